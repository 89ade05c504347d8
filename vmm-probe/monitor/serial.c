/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A 16550A, as much as consoles need; console.c is its line. Input is queued. It has one level-triggered
 * interrupt line. Registers have the names of the data sheet.
 */
#include <sys/ioctl.h>

#include "vmm-probe/monitor/internal.h"

#define IER_RX     0x01u
#define IER_THRE   0x02u
#define IIR_NONE   0x01u
#define IIR_THRE   0x02u
#define IIR_RX     0x04u
#define IIR_FIFO   0xc0u
#define LCR_DLAB   0x80u
#define MCR_LOOP   0x10u
#define LSR_RX     0x01u
#define LSR_EMPTY  0x60u /* holding and shift register */
#define MSR_ONLINE 0xb0u /* CTS, DSR, DCD */

/* Both with the lock held. */
static uint8_t pending(const struct vp_mon_serial *s)
{
	if (s->ier & IER_RX && s->rx_len)
		return IIR_RX;
	if (s->ier & IER_THRE && s->thr_empty)
		return IIR_THRE;
	return IIR_NONE;
}

static void update_irq(struct vp_mon_serial *s)
{
	bool level = pending(s) != IIR_NONE;
	struct kvm_irq_level irq = { .irq = VP_MON_COM1_IRQ, .level = level };

	if (level == s->irq)
		return;
	s->irq = level;
	(void)ioctl(s->vm, KVM_IRQ_LINE, &irq); /* can't fail for an existing VM */
}

static void receive(struct vp_mon_serial *s, uint8_t byte)
{
	if (s->rx_len == sizeof(s->rx))
		return; /* overrun: dropped, as on a line without flow control */
	s->rx[(s->rx_head + s->rx_len++) % sizeof(s->rx)] = byte;
}

static uint8_t take_received(struct vp_mon_serial *s)
{
	if (!s->rx_len)
		return 0;
	if (s->rx_len == sizeof(s->rx))
		vp_mon_console_room(&s->console);
	uint8_t byte = s->rx[s->rx_head];
	s->rx_head = (s->rx_head + 1) % (unsigned)sizeof(s->rx);
	s->rx_len--;
	return byte;
}

static uint8_t read_iir(struct vp_mon_serial *s)
{
	uint8_t iir = pending(s);

	if (iir == IIR_THRE)
		s->thr_empty = false; /* reading IIR acknowledges it */
	return iir | IIR_FIFO;
}

static uint8_t read_register(struct vp_mon_serial *s, unsigned reg)
{
	if (reg < 2 && s->lcr & LCR_DLAB)
		return s->divisor[reg];
	switch (reg) {
	case 0:
		return take_received(s);
	case 1:
		return s->ier;
	case 2:
		return read_iir(s);
	case 3:
		return s->lcr;
	case 4:
		return s->mcr;
	case 5:
		return (vp_mon_console_is_free(&s->console) ? LSR_EMPTY : 0) | (s->rx_len ? LSR_RX : 0);
	case 6:
		/* In loopback the modem status is our own outputs, by which drivers detect the chip. */
		if (s->mcr & MCR_LOOP)
			return (uint8_t)((s->mcr & 1) << 5 | (s->mcr & 2) << 3 | (s->mcr & 4) << 4 |
					 (s->mcr & 8) << 4);
		return MSR_ONLINE;
	default:
		return s->scr;
	}
}

/* Raise the transmitter's interrupt, now or when it is free. */
static void request_tx_irq(struct vp_mon_serial *s)
{
	s->thr_empty = vp_mon_console_is_free(&s->console);
	s->tx_waits = !s->thr_empty;
}

static void transmit(struct vp_mon_serial *s, uint8_t byte)
{
	if (s->mcr & MCR_LOOP)
		receive(s, byte);
	else
		vp_mon_console_put(&s->console, byte);
	request_tx_irq(s);
}

static void write_register(struct vp_mon_serial *s, unsigned reg, uint8_t value)
{
	if (reg < 2 && s->lcr & LCR_DLAB) {
		s->divisor[reg] = value;
		return;
	}
	switch (reg) {
	case 0:
		transmit(s, value);
		break;
	case 1:
		if (value & ~s->ier & IER_THRE)
			request_tx_irq(s); /* enabling it raises it at once */
		s->ier = value & 0x0f;
		break;
	case 3:
		s->lcr = value;
		break;
	case 4:
		s->mcr = value & 0x1f;
		break;
	case 7:
		s->scr = value;
		break;
	default: /* FIFO control is ignored; LSR and MSR are read-only */
		break;
	}
}

uint8_t vp_mon_serial_read(struct vp_mon_serial *s, unsigned reg)
{
	pthread_mutex_lock(&s->lock);
	uint8_t v = read_register(s, reg);
	update_irq(s);
	pthread_mutex_unlock(&s->lock);
	return v;
}

void vp_mon_serial_write(struct vp_mon_serial *s, unsigned reg, uint8_t value)
{
	pthread_mutex_lock(&s->lock);
	write_register(s, reg, value);
	update_irq(s);
	pthread_mutex_unlock(&s->lock);
}

void vp_mon_serial_receive(struct vp_mon_serial *s, uint8_t byte)
{
	pthread_mutex_lock(&s->lock);
	receive(s, byte);
	update_irq(s);
	pthread_mutex_unlock(&s->lock);
}

bool vp_mon_serial_has_room(struct vp_mon_serial *s)
{
	pthread_mutex_lock(&s->lock);
	bool room = s->rx_len < sizeof(s->rx);
	pthread_mutex_unlock(&s->lock);
	return room;
}

void vp_mon_serial_sent(struct vp_mon_serial *s)
{
	if (!s->tx_waits)
		return;
	request_tx_irq(s);
	update_irq(s);
}

struct ot_err *vp_mon_serial_init(struct vp_mon_serial *s, int vm, int out, int in)
{
	*s = (struct vp_mon_serial){ .lock = PTHREAD_MUTEX_INITIALIZER, .vm = vm };
	return vp_mon_console_init(s, out, in);
}

void vp_mon_serial_deinit(struct vp_mon_serial *s)
{
	vp_mon_console_deinit(s);
}
