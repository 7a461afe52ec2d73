package events

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
)

var about = corev1.ObjectReference{Kind: "Workload", Namespace: "team", Name: "train", UID: "1"}

func writer(client kubernetes.Interface, perMinute int, dryRun bool) *Writer {
	w := New(client, perMinute, dryRun, slog.New(slog.DiscardHandler))
	w.now = func() time.Time { return time.Unix(0, 0).Add(repeatAfter) }
	return w
}

func list(t *testing.T, client kubernetes.Interface) []corev1.Event {
	t.Helper()
	events, err := client.CoreV1().Events("team").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return events.Items
}

func TestTheSameIsSaidOnceAlsoAfterARestart(t *testing.T) {
	client := fake.NewClientset()
	for start := range 2 {
		w := writer(client, 60, false)
		for i, want := range []Result{Written, Known, Written} {
			if start == 1 {
				want = Known
			}
			topic := []string{"cpu", "cpu", "gpu"}[i]
			if got := w.Write(t.Context(), about, corev1.EventTypeNormal, "NotNow", topic, fmt.Sprint(i, " nodes")); got != want {
				t.Errorf("start %d, message %d: %s, want %s", start, i, got, want)
			}
		}
	}
	events := list(t, client)
	if len(events) != 2 {
		t.Fatalf("%d events, want 2", len(events))
	}
	for _, event := range events {
		if event.InvolvedObject != about || event.Reason != "NotNow" || event.Count != 1 {
			t.Errorf("%+v", event)
		}
	}
	later := writer(client, 60, false)
	later.now = func() time.Time { return time.Unix(0, 0).Add(2 * repeatAfter) }
	if got := later.Write(t.Context(), about, "Normal", "NotNow", "cpu", "no room"); got != Written {
		t.Errorf("once the first one is about to be forgotten: %s", got)
	}
	again := about
	again.UID = "2" // deleted and made anew
	if got := writer(client, 60, false).Write(t.Context(), again, "Normal", "NotNow", "cpu", "no room"); got != Written {
		t.Errorf("of another object of the same name: %s", got)
	}
}

func TestEventsAreLimitedAndDryRunsWriteNone(t *testing.T) {
	client := fake.NewClientset()
	const most = 10
	w := writer(client, most, false)
	results := map[Result]int{}
	for i := range most + 5 {
		results[w.Write(t.Context(), about, "Normal", "NotNow", strings.Repeat("x", i+1), "")]++
	}
	if results[Written] != most || results[Limited] != 5 || len(list(t, client)) != most {
		t.Errorf("%v, and %d events", results, len(list(t, client)))
	}
	dry := fake.NewClientset()
	if got := writer(dry, 1, true).Write(t.Context(), about, "Normal", "NotNow", "x", "x"); got != Written || len(list(t, dry)) != 0 {
		t.Errorf("%s, and %d events", got, len(list(t, dry)))
	}
}

func TestLongMessagesAreCutBetweenCharacters(t *testing.T) {
	client := fake.NewClientset()
	writer(client, 1, false).Write(t.Context(), about, "Normal", "NotNow", "", strings.Repeat("ä", 1000))
	message := list(t, client)[0].Message
	if len(message) > mostBytes || !utf8.ValidString(message) || !strings.HasSuffix(message, "...") {
		t.Errorf("%d bytes: %q", len(message), message)
	}
}

func TestForgottenObjectsTakeNoMemory(t *testing.T) {
	w := writer(fake.NewClientset(), 60, false)
	w.Write(t.Context(), about, "Normal", "NotNow", "x", "x")
	w.Forget(func(object string) bool { return object == "team/train" })
	if len(w.written) != 1 {
		t.Error("forgot what still matters")
	}
	w.Forget(func(string) bool { return false })
	if len(w.written) != 0 {
		t.Error("remembers what no longer matters")
	}
}
