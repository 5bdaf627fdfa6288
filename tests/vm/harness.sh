#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# What make check-vm reports and returns, for each way in which a script or a guest can end.  harness.py stands in for QEMU
# and runs the guest scripts below on this machine: the test needs no root, no image and no package.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

have python3 flock setpriv || skip_all "python3, flock or setpriv is not installed"

top=$(cd "$top" && pwd)
tree=$tmp/tree
guest=$tree/tests/vm/guest
mkdir -p "$guest"
for file in agent.py check.sh command.py guests guests.sh image.sh machine.sh; do
	ln -s "$top/tests/vm/$file" "$tree/tests/vm/$file"
done
vm=$top/tests/vm
# shellcheck source=tests/vm/guests.sh
. "$vm/guests.sh"
for name in debian12 dtrace; do
	mkdir -p "$tmp/cache/image-$name"
	guest_key "$name" >"$tmp/cache/image-$name/key"
done
: >"$tmp/netobs.deb"

# guest_script NAME: writes a guest script, its standard input
guest_script() {
	cat >"$guest/$1.sh"
}

guest_script good <<'END'
printf '%s\n' 'ok 1 - one' '# a note' 'ok 2 - two' 'ok 3 - three # SKIP a reason' '1..3'
END
guest_script bad <<'END'
printf '%s\n' 'ok 1 - one' 'not ok 2 - two' '1..2'
exit 1
END
guest_script planless <<'END'
printf '%s\n' 'ok 1 - one'
END
guest_script short <<'END'
printf '%s\n' 'ok 1 - one' '1..2'
END
guest_script long <<'END'
printf '%s\n' 'ok 1 - one' 'ok 2 - two' '1..1'
END
guest_script skipping <<'END'
echo '1..0 # SKIP nothing is here'
END
guest_script status <<'END'
printf '%s\n' 'ok 1 - one' '1..1'
exit 3
END
guest_script late <<'END'
# Timeout: 1
echo 'ok 1 - one'
sleep 60 # no event: it never ends in time
END
guest_script silent <<'END'
# Timeout: 1
printf '%s\n' 'ok 1 - one' '1..1'
exec >/dev/null 2>&1
sleep 60 # no event: it continues without output
END
guest_script dying <<'END'
kill -KILL $PPID
END
guest_script restarting <<'END'
printf '%s\n' "ok 1 - stage $VM_STAGE" '1..1'
[ "$VM_STAGE" -eq 2 ] || echo '# reboot'
END
guest_script other <<'END'
# Guest: dtrace
printf '%s\n' 'ok 1 - one' '1..1'
END
guest_script nowhere <<'END'
# Guest: solaris
printf '%s\n' 'ok 1 - one' '1..1'
END
guest_script locked <<'END'
! flock -n -x "$HARNESS_CACHE/image.lock" true && flock -n -s "$HARNESS_CACHE/image.lock" true && echo 'ok 1 - shared'
echo '1..1'
END

# run VARIABLE=VALUE... NAME...: runs check.sh for these scripts; $status, $tmp/out and the number of $boots
run() {
	: >"$tmp/boots"
	set -- "$@" --
	while [ "${1#*=}" != "$1" ]; do
		set -- "$@" "$1"
		shift
	done
	names=''
	while [ "$1" != -- ]; do
		names="$names $1"
		shift
	done
	shift
	env -u NETOBS_VM_TMPDIR -u NETOBS_VM_MIRROR -u VM_KEEP "$@" VM_CHECKS="$names" VM_ALL="${names# }" NETOBS_VM_ACCEL=tcg \
		NETOBS_VM_CACHE="$tmp/cache" NETOBS_VM_PACKAGE="$tmp/netobs.deb" NETOBS_VM_QEMU="$top/tests/vm/harness.py" \
		HARNESS_TREE="$tree" HARNESS_CACHE="$tmp/cache" HARNESS_BOOTS="$tmp/boots" TMPDIR="$tmp" \
		top_srcdir="$tree" top_builddir="$tmp" timeout 100 sh "$tree/tests/vm/check.sh" >"$tmp/out" 2>&1
	status=$?
	boots=$(wc -l <"$tmp/boots")
}

# ends NAME STATUS COUNTS [LINE]: the last run's status and closing line; and it has printed LINE
ends() {
	got="$status, $(grep -v 'the guest continues to run' "$tmp/out" | tail -n 1)"
	if [ "$got" = "$2, check-vm: $3" ] && { [ -z "${4:-}" ] || grep -qxF "$4" "$tmp/out"; }; then
		ok "$1"
	else
		printf '%s\n' "wanted $2, check-vm: $3" "${4:-}" >"$tmp/wanted"
		not_ok "$1" "$tmp/wanted" "$tmp/out"
	fi
}

run good
ends "points that pass and are skipped" 0 "2 passed, 0 failed, 1 skipped" "ok good: three # SKIP a reason"
run bad
ends "a point that fails" 1 "1 passed, 1 failed, 0 skipped" "not ok bad: two"
check "the output of a script that failed is kept" grep -qx 'not ok 2 - two' "$tmp/tests/vm/log/bad/bad.out"
run planless
ends "no plan" 1 "1 passed, 1 failed, 0 skipped" "not ok planless: no plan: the script ended early, with status 0"
run short
ends "too few points" 1 "1 passed, 1 failed, 0 skipped" "not ok short: 1 points instead of 2"
run long
ends "too many points" 1 "2 passed, 1 failed, 0 skipped" "not ok long: 2 points instead of 1"
run skipping
ends "a script that skips all of its points" 1 "0 passed, 1 failed, 1 skipped" \
	"not ok skipping: the script skipped all of its points"
run status
ends "a status without a failed point" 1 "1 passed, 1 failed, 0 skipped" "not ok status: status 3 without a failed point"
run late
ends "a script that does not end in time" 1 "1 passed, 1 failed, 0 skipped" "not ok late: the script did not end in time"
run silent
ends "a script that closes its output and does not end" 1 "1 passed, 1 failed, 0 skipped" \
	"not ok silent: the script did not end in time"
run restarting
ends "a script that restarts the guest" 0 "2 passed, 0 failed, 0 skipped" "ok restarting: stage 2"
run locked
ends "a run locks its image" 0 "1 passed, 0 failed, 0 skipped" "ok locked: shared"
run good dying good
ends "a guest that dies" 1 "4 passed, 1 failed, 2 skipped" "not ok dying: the guest died, restarted or does not answer"
is "the next script begins with a fresh guest" "$boots" 2
run VM_KEEP=1 dying good
kept=$(sed -n 's/.*the guest continues to run.*end it with kill \([0-9]*\)$/\1/p' "$tmp/out")
check "a guest is kept" kill "$kept"
ends "a guest that dies, instead of one that is kept" 1 "2 passed, 1 failed, 1 skipped"
is "a guest that died is replaced" "$boots" 2
run good other other good
ends "scripts of two guests" 0 "6 passed, 0 failed, 2 skipped"
is "each guest has its image and its processors, and its scripts share it" "$(paste -s -d , "$tmp/boots")" \
	"image-debian12 2,image-dtrace 1,image-debian12 2"
run nowhere
is "a guest that does not exist" "$status, $(cat "$tmp/out")" "1, check-vm: nowhere.sh: tests/vm/guests has no guest solaris"
run HARNESS_FAILS=is-system-running good bad
ends "a guest that does not start" 1 "0 passed, 1 failed, 0 skipped" "check-vm: bad: not run, because the guest does not start"
is "it is started once" "$boots" 1
run HARNESS_FAILS=dpkg good
ends "a package that cannot be installed" 1 "0 passed, 1 failed, 0 skipped" "not ok good: the package cannot be installed"

# ------------------------------------------------------------------------------------------------------------- the guests

# mmdebstrap notes what it is told to install, and makes no image.
mkdir "$tmp/bin"
cat >"$tmp/bin/mmdebstrap" <<'END'
#!/bin/sh
while [ "${1#-}" != "$1" ]; do
	shift
done
printf '%s\n' "$1 $(shift 2 && echo "$*")" >"$IMAGE_NOTES"
exit 1
END
chmod +x "$tmp/bin/mmdebstrap"

# sources GUEST [VARIABLE=VALUE]: suite and sources of the guest's image
sources() {
	sources_guest=$1
	shift
	: >"$tmp/notes"
	env -u NETOBS_VM_MIRROR PATH="$tmp/bin:$PATH" IMAGE_NOTES="$tmp/notes" "$@" \
		sh "$vm/image.sh" "$sources_guest" "$tmp/image" >"$tmp/image.out" 2>&1
	cat "$tmp/notes"
}

is "an image of one suite" "$(sources debian12)" "bookworm "
is "an image of one suite from another mirror" "$(sources debian12 NETOBS_VM_MIRROR=http://near/debian)" \
	"bookworm http://near/debian"
is "an image of two suites" "$(sources dtrace)" \
	"sid http://deb.debian.org/debian deb http://deb.debian.org/debian trixie main"
is "an image of two suites from another mirror" "$(sources dtrace NETOBS_VM_MIRROR=http://near/debian)" \
	"sid http://near/debian deb http://near/debian trixie main"

before=$(guest_key debian12) before_dtrace=$(guest_key dtrace)
vm=$tmp/vm
mkdir "$vm"
cp "$top/tests/vm/image.sh" "$vm"
{ cat "$top/tests/vm/guests" && printf '[dtrace]\nanother:\n'; } >"$vm/guests"
check "another package changes the image of its guest" test "$(guest_key dtrace)" != "$before_dtrace"
is "and no other" "$(guest_key debian12)" "$before"
tap_done
