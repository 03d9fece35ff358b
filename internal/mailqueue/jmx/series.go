package jmx

import "strings"

// series is a metric with labels, as a page has it and as settings ask for it.
// Names are folded: exporters differ in case, and in what they write for the
// characters that a name could not have.
type series struct {
	name   string
	labels []label
}

type label struct{ name, value string }

// matches tells whether another series is what this one asks for: the same
// name, and every label that this one has.
func (s series) matches(other series) bool {
	if s.name != other.name {
		return false
	}
	for _, want := range s.labels {
		if !other.has(want) {
			return false
		}
	}
	return true
}

func (s series) has(want label) bool {
	for _, l := range s.labels {
		if l == want {
			return true
		}
	}
	return false
}

// fold brings the spellings of a name together: mail.queue.numItems is
// mail_queue_numItems, and MAIL_QUEUE_NUMITEMS.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == ':' || r == '#':
			return r
		}
		return '_'
	}, name)
}

// parseSeries reads a series at the beginning of a line and gives what stands
// after it, without spaces before it. The name stands in front of the braces,
// or quoted inside them (the format's later versions).
func parseSeries(line string) (s series, rest string, ok bool) {
	end := strings.IndexAny(line, "{ \t")
	if end < 0 {
		end = len(line)
	}
	s.name, line = line[:end], line[end:]
	if strings.HasPrefix(line, "{") {
		if line, ok = s.parseLabels(line[1:]); !ok {
			return series{}, "", false
		}
	}
	s.name = fold(s.name)
	return s, strings.Trim(line, " \t"), s.name != ""
}

// parseLabels reads labels up to the closing brace and gives what is after it.
func (s *series) parseLabels(text string) (rest string, ok bool) {
	for {
		text = strings.TrimLeft(text, " \t,")
		if strings.HasPrefix(text, "}") {
			return text[1:], true
		}
		var name string
		if name, text, ok = labelName(text); !ok {
			return "", false
		}
		if !strings.HasPrefix(text, "=") {
			s.name = name
			continue
		}
		var value string
		if value, text, ok = unquote(strings.TrimLeft(text[1:], " \t")); !ok {
			return "", false
		}
		s.labels = append(s.labels, label{fold(name), value})
	}
}

// labelName reads a label's name, or the metric's where no value follows; only
// quoted names can be that.
func labelName(text string) (name, rest string, ok bool) {
	if strings.HasPrefix(text, `"`) {
		name, rest, ok = unquote(text)
		return name, strings.TrimLeft(rest, " \t"), ok
	}
	i := strings.IndexByte(text, '=')
	if i < 0 {
		return "", "", false
	}
	return strings.TrimRight(text[:i], " \t"), text[i:], true
}

// unquote reads a quoted text with the format's three escapes, \\, \" and \n.
func unquote(text string) (value, rest string, ok bool) {
	if !strings.HasPrefix(text, `"`) {
		return "", "", false
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return b.String(), text[i+1:], true
		case c == '\\' && i+1 < len(text):
			i++
			if text[i] == 'n' {
				b.WriteByte('\n')
			} else {
				b.WriteByte(text[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", "", false
}
