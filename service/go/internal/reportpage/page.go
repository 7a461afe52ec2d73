// Package reportpage holds the page that `espalier --report` writes and espalier-bridge serves: HTML, CSS and
// JavaScript, which both builds put into one text. The data stands in it as JSON.
package reportpage

import (
	"embed"
	"strings"
)

// ContentSecurityPolicy is what the page says of itself, for the header of a server.
const ContentSecurityPolicy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"

//go:embed page.html page.css tree_map.js drawing.js atlas.js page.js
var files embed.FS

// Before and Behind are what stands before the data, which has to be without any '<', and behind it.
var Before, Behind = parts()

// parts does what service/cli/embed_page.cmake does.
func parts() (before, behind string) {
	read := func(name string) string {
		text, err := files.ReadFile(name)
		if err != nil {
			panic(err) // a file of the line above
		}
		return string(text)
	}
	script := ""
	for _, name := range []string{"tree_map.js", "drawing.js", "atlas.js", "page.js"} {
		script += read(name) + "\n"
	}
	page := strings.Replace(read("page.html"), "<!-- style -->", read("page.css"), 1)
	page = strings.Replace(page, "<!-- script -->", script, 1)
	before, behind, _ = strings.Cut(page, "<!-- data -->")
	return before, behind
}
