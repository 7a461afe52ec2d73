package main

import (
	"fmt"
	"runtime/debug"
	"strings"
)

// Given to the linker by release/build_bridge.sh.
var version, commit string

// versionLine tells what this is in the form of the first line of espalier --version.
func versionLine() string {
	version, commit := version, commit
	if info, ok := debug.ReadBuildInfo(); version == "" && ok {
		version, commit = factsOf(info)
	}
	return fmt.Sprintf("espalier-bridge %s (%s)", version, commit)
}

// factsOf returns version and commit as Go itself notes them, in go build and go install.
func factsOf(info *debug.BuildInfo) (version, commit string) {
	version, commit = "devel", "unknown commit"
	if numbers, found := strings.CutPrefix(info.Main.Version, "v"); found {
		version = numbers
	}
	changed := ""
	for _, setting := range info.Settings {
		switch {
		case setting.Key == "vcs.revision" && len(setting.Value) >= 12:
			commit = setting.Value[:12]
		case setting.Key == "vcs.modified" && setting.Value == "true":
			changed = "-dirty"
		}
	}
	return version, commit + changed
}
