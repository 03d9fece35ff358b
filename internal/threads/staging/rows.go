package staging

// Rows are sorted and stored as numbers. Here is what they mean, one kind after
// the other: each is sorted by its first member, then by its second.

// How many numbers each kind has.
const (
	recordColumns   = 4
	mappingColumns  = 3
	cloudColumns    = 2
	commentColumns  = 1
	parentColumns   = 5
	joinedColumns   = 6
	crossingColumns = 3
	stepColumns     = 2
	placeColumns    = 3
	entryColumns    = 2
)

// recordRow is a record of the hierarchy file; number is its place there.
type recordRow struct{ comment, number, issue, parent int64 }

func (r recordRow) row() row   { return row{r.comment, r.number, r.issue, r.parent} }
func recordOf(r row) recordRow { return recordRow{r[0], r[1], r[2], r[3]} }

// mappingRow is a line of the id mappings; number is its place there.
type mappingRow struct{ server, number, cloud int64 }

func (r mappingRow) row() row    { return row{r.server, r.number, r.cloud} }
func mappingOf(r row) mappingRow { return mappingRow{r[0], r[1], r[2]} }

// cloudRow is the mapping of a comment, by its cloud id.
type cloudRow struct{ cloud, server int64 }

func (r cloudRow) row() row  { return row{r.cloud, r.server} }
func cloudOf(r row) cloudRow { return cloudRow{r[0], r[1]} }

// commentRow is one of a set of comments.
type commentRow struct{ comment int64 }

func (r commentRow) row() row    { return row{r.comment} }
func commentOf(r row) commentRow { return commentRow{r[0]} }

// parentRow is a record with its comment's mapping, by its parent.
type parentRow struct{ parent, comment, issue, cloud, flags int64 }

func (r parentRow) row() row   { return row{r.parent, r.comment, r.issue, r.cloud, r.flags} }
func parentOf(r row) parentRow { return parentRow{r[0], r[1], r[2], r[3], r[4]} }

// joinedRow is a record with all mappings, by its issue.
type joinedRow struct{ issue, comment, parent, cloud, cloudParent, flags int64 }

func (r joinedRow) row() row {
	return row{r.issue, r.comment, r.parent, r.cloud, r.cloudParent, r.flags}
}
func joinedOf(r row) joinedRow { return joinedRow{r[0], r[1], r[2], r[3], r[4], r[5]} }

// crossingRow is a record whose parent is in another issue, by that issue.
type crossingRow struct{ issue, parent, comment int64 }

func (r crossingRow) row() row     { return row{r.issue, r.parent, r.comment} }
func crossingOf(r row) crossingRow { return crossingRow{r[0], r[1], r[2]} }

// stepRow leads from one comment to another.
type stepRow struct{ from, to int64 }

func (r stepRow) row() row { return row{r.from, r.to} }
func stepOf(r row) stepRow { return stepRow{r[0], r[1]} }

// placeRow is a crossing by its comment: the issue and the comment that its
// parent is.
type placeRow struct{ comment, issue, parent int64 }

func (r placeRow) row() row  { return row{r.comment, r.issue, r.parent} }
func placeOf(r row) placeRow { return placeRow{r[0], r[1], r[2]} }

// entryRow is a comment at which a cycle enters an issue.
type entryRow struct{ issue, comment int64 }

func (r entryRow) row() row  { return row{r.issue, r.comment} }
func entryOf(r row) entryRow { return entryRow{r[0], r[1]} }
