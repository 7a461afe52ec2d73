package wire

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	_ "espalier.dev/espalier/gen/espalier/v1"
)

// The generated code is what `make generate-go` makes of proto/.
func TestGeneratedCodeIsOfTheSchema(t *testing.T) {
	protoc, err := exec.LookPath("protoc")
	if err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
	root := filepath.Join("..", "..", "..", "..", "proto")
	files, err := filepath.Glob(filepath.Join(root, "espalier", "v1", "*.proto"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no schema in %s: %v", root, err)
	}
	set := filepath.Join(t.TempDir(), "set")
	if output, err := exec.Command(protoc, append([]string{"-I", root, "--descriptor_set_out", set}, files...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	bytes, err := os.ReadFile(set)
	if err != nil {
		t.Fatal(err)
	}
	schema := &descriptorpb.FileDescriptorSet{}
	if err := proto.Unmarshal(bytes, schema); err != nil {
		t.Fatal(err)
	}
	if len(schema.GetFile()) != len(files) {
		t.Fatalf("%d of %d files", len(schema.GetFile()), len(files))
	}
	for _, want := range schema.GetFile() {
		generated, err := protoregistry.GlobalFiles.FindFileByPath(want.GetName())
		if err != nil {
			t.Errorf("%s: %v; run `make generate-go`", want.GetName(), err)
			continue
		}
		if got := protodesc.ToFileDescriptorProto(generated); !proto.Equal(got, want) {
			t.Errorf("%s has changed since; run `make generate-go`", want.GetName())
		}
	}
}
