// Package events writes Events once each, and not too many at once.
package events

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/flowcontrol"
)

const (
	component = "espalier-bridge"
	// mostBytes is the most that the API takes of a message.
	mostBytes = 1024
	// repeatAfter is when something is said again that still holds: API servers keep Events for an
	// hour.
	repeatAfter = 45 * time.Minute
)

// Writer writes Events. The name of an Event follows from what it is about, so that it is written
// once in a while, whichever replica says it and however often the bridge is started anew.
type Writer struct {
	client  kubernetes.Interface
	limiter flowcontrol.PassiveRateLimiter
	now     func() time.Time
	dryRun  bool
	logger  *slog.Logger
	written map[string]struct{}
}

// New returns a writer of at most perMinute Events a minute, and as many at once. It is for one goroutine.
func New(client kubernetes.Interface, perMinute int, dryRun bool, logger *slog.Logger) *Writer {
	return &Writer{
		client:  client,
		limiter: flowcontrol.NewTokenBucketPassiveRateLimiter(float32(perMinute)/60, perMinute),
		now:     time.Now,
		dryRun:  dryRun,
		logger:  logger,
		written: map[string]struct{}{},
	}
}

// Result tells what became of an Event.
type Result string

// What becomes of Events.
const (
	Written Result = "written"
	Known   Result = "known"   // it was written before
	Limited Result = "limited" // too many were written; say it again later
	Failed  Result = "failed"
)

// Write says something of an object, once for each reason and topic until it is time to repeat it.
// What else the message holds, such as numbers that change all the time, makes it no other one.
func (w *Writer) Write(ctx context.Context, about corev1.ObjectReference, kind, reason, topic, message string) Result {
	if len(message) > mostBytes {
		message = strings.ToValidUTF8(message[:mostBytes-len("...")], "") + "..."
	}
	period := strconv.FormatInt(w.now().UnixNano()/int64(repeatAfter), 10)
	sum := sha256.Sum256([]byte(strings.Join([]string{string(about.UID), reason, topic, period}, "\x00")))
	name := about.Name + "." + hex.EncodeToString(sum[:8])
	key := about.Namespace + "/" + name
	if _, known := w.written[key]; known {
		return Known
	}
	if w.dryRun {
		w.logger.Info("would write an Event", "about", about.Namespace+"/"+about.Name, "reason", reason, "message", message)
		w.written[key] = struct{}{}
		return Written
	}
	if !w.limiter.TryAccept() {
		return Limited
	}
	now := metav1.NewTime(w.now())
	event := &corev1.Event{
		ObjectMeta:          metav1.ObjectMeta{Namespace: about.Namespace, Name: name},
		InvolvedObject:      about,
		Type:                kind,
		Reason:              reason,
		Message:             message,
		Source:              corev1.EventSource{Component: component},
		ReportingController: "espalier.dev/bridge",
		ReportingInstance:   component,
		FirstTimestamp:      now,
		LastTimestamp:       now,
		Count:               1,
	}
	_, err := w.client.CoreV1().Events(about.Namespace).Create(ctx, event, metav1.CreateOptions{})
	switch {
	case apierrors.IsAlreadyExists(err):
		w.written[key] = struct{}{}
		return Known
	case err != nil:
		w.logger.Warn("Event not written", "about", key, "err", err)
		return Failed
	}
	w.written[key] = struct{}{}
	return Written
}

// Forget lets what was said of other objects be forgotten: it keeps what is said of those that
// still matter, whose number bounds the memory.
func (w *Writer) Forget(matters func(namespaceAndName string) bool) {
	for key := range w.written {
		object := key[:len(key)-len(".0123456789abcdef")]
		if !matters(object) {
			delete(w.written, key)
		}
	}
}
