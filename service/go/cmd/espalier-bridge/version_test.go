package main

import (
	"regexp"
	"runtime/debug"
	"testing"
)

func TestTheVersionIsThatOfTheLinkerElseThatOfGo(t *testing.T) {
	if line := versionLine(); !regexp.MustCompile(`^espalier-bridge \S+ \(.+\)$`).MatchString(line) {
		t.Errorf("%q, want a version and a commit", line)
	}
	version, commit = "1.2.3+4", "0123456789ab"
	t.Cleanup(func() { version, commit = "", "" })
	if line := versionLine(); line != "espalier-bridge 1.2.3+4 (0123456789ab)" {
		t.Errorf("%q, want what the linker was given", line)
	}
}

func TestWhatGoNotesIsToldAsOtherBuildsTellIt(t *testing.T) {
	revision := debug.BuildSetting{Key: "vcs.revision", Value: "0123456789abcdef0123456789abcdef01234567"}
	for _, c := range []struct {
		version                 string
		settings                []debug.BuildSetting
		wantVersion, wantCommit string
	}{
		{"v1.2.3", nil, "1.2.3", "unknown commit"},
		{"(devel)", nil, "devel", "unknown commit"},
		{"(devel)", []debug.BuildSetting{revision, {Key: "vcs.modified", Value: "false"}}, "devel", "0123456789ab"},
		{"v1.2.3", []debug.BuildSetting{revision, {Key: "vcs.modified", Value: "true"}}, "1.2.3", "0123456789ab-dirty"},
	} {
		info := &debug.BuildInfo{Main: debug.Module{Version: c.version}, Settings: c.settings}
		if version, commit := factsOf(info); version != c.wantVersion || commit != c.wantCommit {
			t.Errorf("%q with %v: %q, %q; want %q, %q", c.version, c.settings, version, commit, c.wantVersion, c.wantCommit)
		}
	}
}
