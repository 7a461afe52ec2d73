#!/bin/sh
# Builds kube-apiserver and kube-scheduler, of the version in kubernetes/go.mod, from the Go module proxy
# into a folder outside the tree, once, and prints that folder. About ten minutes on two cores.
set -eu
cd "$(dirname "$0")/kubernetes"
version=$(go list -m -f '{{.Version}}' k8s.io/kubernetes)
folder=${XDG_CACHE_HOME:-$HOME/.cache}/espalier/kubernetes-$version
mkdir -p "$folder"
minor=${version#v1.}
facts="-X k8s.io/component-base/version.gitVersion=$version -X k8s.io/component-base/version.gitMajor=1"
facts="$facts -X k8s.io/component-base/version.gitMinor=${minor%%.*}"
for program in kube-apiserver kube-scheduler; do
  [ -x "$folder/$program" ] && continue
  echo "cluster-test: building $program $version" >&2
  # Renamed when it is whole, so that a build that was ended leaves nothing that looks built.
  CGO_ENABLED=0 nice go build -p 2 -trimpath -ldflags="-s -w $facts" -o "$folder/$program.part" "k8s.io/kubernetes/cmd/$program" >&2
  mv "$folder/$program.part" "$folder/$program"
done
echo "$folder"
