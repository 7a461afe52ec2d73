package wire

import (
	pb "espalier.dev/espalier/gen/espalier/v1"
	"espalier.dev/espalier/internal/resources"
)

// Reader reads what refers to the texts of one message. A reference past their end, which no server sends,
// reads as an empty text.
type Reader []string

// Text returns the text of a reference.
func (r Reader) Text(ref uint32) string {
	if ref == 0 || uint64(ref) > uint64(len(r)) {
		return ""
	}
	return r[ref-1]
}

// Texts returns the texts of references.
func (r Reader) Texts(refs []uint32) []string {
	texts := make([]string, 0, len(refs))
	for _, ref := range refs {
		texts = append(texts, r.Text(ref))
	}
	return texts
}

// Map returns a map of texts.
func (r Reader) Map(message *pb.StringMap) map[string]string {
	values := make(map[string]string, len(message.GetKeys()))
	for i, key := range message.GetKeys()[:min(len(message.GetKeys()), len(message.GetValues()))] {
		values[r.Text(key)] = r.Text(message.GetValues()[i])
	}
	return values
}

// Amounts returns a vector of resources.
func (r Reader) Amounts(message *pb.ResourceVector) resources.Amounts {
	amounts := make(resources.Amounts, len(message.GetNames()))
	for i, name := range message.GetNames()[:min(len(message.GetNames()), len(message.GetAmounts()))] {
		amounts[r.Text(name)] = message.GetAmounts()[i]
	}
	return amounts
}
