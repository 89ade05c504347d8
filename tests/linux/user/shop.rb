# SPDX-License-Identifier: GPL-2.0-or-later
# At each line of its input it serves some orders, and says what was called: "-> LEVEL NAME", "<- LEVEL NAME", how often it
# has called Integer#gcd, then "done". Since 2.5 Ruby passes its probes of methods only while some TracePoint is enabled: this
# one does nothing.

$said = []
$level = 0

class Shop
  def price(goods)
    $said << "-> #{$level} Shop#price"
    total = goods.sum { |n| n.gcd(6) }
    $said << "<- #{$level} Shop#price"
    total
  end

  def order(number)
    $said << "-> #{$level} Shop#order"
    $level += 1
    total = price([number, 3]) + price([number, 5])
    $level -= 1
    $said << "<- #{$level} Shop#order"
    total
  end
end

def refuse(number)
  $said << "-> #{$level} Object#refuse"
  $said << "<- #{$level} Object#refuse"
  raise ArgumentError, "no order #{number}"
end

def serve(shop, orders)
  $said << "-> #{$level} Object#serve"
  $level += 1
  orders.times do |number|
    number % 5 == 0 ? refuse(number) : shop.order(number)
  rescue ArgumentError
    nil
  end
  $level -= 1
  $said << "<- #{$level} Object#serve"
end

TracePoint.new {}.enable
shop = Shop.new
$stdout.sync = true
puts "ready"
while $stdin.gets
  serve(shop, 20)
  puts $said, "gcd #{$said.count { |line| line.start_with?('->') && line.end_with?('price') } * 2}", "done"
  $said.clear
end
