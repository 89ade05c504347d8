# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Completion of outsight(1) for bash. The program itself says what a word can become: `outsight --complete WORD…`
# (cli/complete.h). Where it says nothing, bash offers file names.
_outsight()
{
	local line=${COMP_LINE:0:COMP_POINT} breaks=${COMP_WORDBREAKS//[^:=]/} words=() part gap quote='' cur i

	# bash takes words apart at ":" and "=", which are parts of ours; the last one ends at the cursor.
	for ((i = 0; i <= COMP_CWORD; i++)); do
		gap=${line%%[![:blank:]]*}
		line=${line#"$gap"}
		part=${COMP_WORDS[i]}
		[[ $i != "$COMP_CWORD" ]] || part=$line
		line=${line#"$part"}
		if [[ $i = 0 || $gap ]]; then
			words+=("$part")
		else
			words[-1]+=$part
		fi
	done
	cur=${words[-1]}
	if [[ $cur == [\'\"]* ]]; then
		quote=${cur:0:1}
		cur=${cur:1}
		words[-1]=$cur
	fi
	mapfile -t COMPREPLY < <("${words[0]}" --complete "${words[@]:1}" 2>/dev/null)
	[[ ${#COMPREPLY[@]} = 0 || ${COMPREPLY[0]} != *[:=] ]] || compopt -o nospace 2>/dev/null
	# What bash replaces begins behind the last of these, but not in quotes.
	if [[ ! $quote && $breaks && $cur == *["$breaks"]* ]]; then
		COMPREPLY=("${COMPREPLY[@]#"${cur%"${cur##*["$breaks"]}"}"}")
	fi
}
complete -o default -F _outsight outsight
