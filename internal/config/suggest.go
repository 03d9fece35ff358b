package config

// didYouMean ends a sentence about an unknown name: with the nearest name that
// is known, or only with a full stop when none is near.
func didYouMean(written string, names []string) string {
	best, distance := "", 3 // more than two mistakes is another word
	for _, name := range names {
		if d := editDistance(written, name); name != "" && d < distance {
			best, distance = name, d
		}
	}
	if best == "" {
		return "."
	}
	return "; did you mean " + best + "?"
}

// editDistance counts the insertions, deletions and replacements between a
// and b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
