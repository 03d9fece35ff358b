package main

import "strconv"

// amount writes a number of things: "1 record", "3 records".
func amount(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.FormatInt(n, 10) + " " + thing + "s"
}
