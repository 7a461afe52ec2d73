package espalier

import "github.com/prometheus/client_golang/prometheus"

// Metrics are what a mirror counts. Register them as any collector.
type Metrics struct {
	events     *prometheus.CounterVec
	calls      *prometheus.CounterVec
	seconds    *prometheus.HistogramVec
	resyncs    *prometheus.CounterVec
	objects    *prometheus.GaugeVec
	generation prometheus.Gauge
}

// NewMetrics returns metrics that nothing was counted in.
func NewMetrics() *Metrics {
	return &Metrics{
		events: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "espalier_mirror_events_total", Help: "Objects taken in, by what became of them: set, delete.",
		}, []string{"event"}),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "espalier_mirror_calls_total", Help: "Calls that change the server's state: load, update; by their result.",
		}, []string{"call", "result"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "espalier_mirror_call_seconds", Help: "How long these calls took.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 14),
		}, []string{"call"}),
		resyncs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "espalier_mirror_resyncs_total",
			Help: "Loads of the whole state after the first, by why: restart, changed, unloaded, refused.",
		}, []string{"reason"}),
		objects: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "espalier_mirror_objects", Help: "What the mirrored state holds: nodes, pods, workloads.",
		}, []string{"kind"}),
		generation: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "espalier_mirror_generation", Help: "Generation of the server's state that holds all that was sent.",
		}),
	}
}

func (m *Metrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.events, m.calls, m.seconds, m.resyncs, m.objects, m.generation}
}

// Describe sends the descriptions of all metrics.
func (m *Metrics) Describe(descriptions chan<- *prometheus.Desc) {
	for _, collector := range m.collectors() {
		collector.Describe(descriptions)
	}
}

// Collect sends all metrics.
func (m *Metrics) Collect(metrics chan<- prometheus.Metric) {
	for _, collector := range m.collectors() {
		collector.Collect(metrics)
	}
}
