#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# examples/run.sh twice at the same time and by way of a link, with a build that does nothing.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# A clone in which everything that run.sh starts is another program.
clone=$folder/clone
mkdir -p "$clone/examples" "$clone/build/release/bin" "$folder/bin"
cp "$root/examples/run.sh" "$root/examples/parts.sh" "$clone/examples/"
printf '#!/bin/sh\n' >"$clone/examples/install_packages.sh"
printf '#!/bin/sh\necho "serves in $PWD: $*"\n' >"$clone/build/release/bin/serve"
printf '#!/bin/sh\n' >"$clone/build/release/bin/step_loop"
# The build begins, tells so, and ends when it is told to.
mkfifo "$folder/begun" "$folder/end"
cat >"$folder/bin/cmake" <<EOF
#!/bin/sh
[ "\$1" = --preset ] && [ -n "\$WAITS" ] && echo begun >"$folder/begun" && read -r _ <"$folder/end"
echo "cmake in \$PWD"
EOF
chmod +x "$clone"/examples/*.sh "$clone"/build/release/bin/* "$folder/bin/cmake"
export PATH=$folder/bin:$PATH

ln -s "$clone/examples/run.sh" "$folder/link"
(cd "$folder" && ./link --max-seqs 3) >"$folder/linked"
grep -q "^cmake in $clone\$" "$folder/linked"
grep -q "^serves in $folder: --max-seqs 3\$" "$folder/linked"

WAITS=1 "$clone/examples/run.sh" >"$folder/first" &
first=$!
read -r _ <"$folder/begun"
"$clone/examples/run.sh" >"$folder/second" &
second=$!
while ! grep -q "another examples/run.sh builds in $clone/build; waiting" "$folder/second"; do
    kill -0 "$second"
done
if grep -q "^cmake" "$folder/second"; then
    echo "the second run builds beside the first"
    exit 1
fi
echo end >"$folder/end"
wait "$first"
wait "$second"
grep -q "^serves in" "$folder/first"
grep -q "^serves in" "$folder/second"
if grep -q "waiting" "$folder/first" "$folder/linked"; then
    echo "a run alone waits"
    exit 1
fi
echo "run.sh: good"
