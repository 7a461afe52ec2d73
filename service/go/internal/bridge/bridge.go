// Package bridge keeps an Espalier server's state that of a cluster and acts on its answers.
package bridge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/clock"
	"sigs.k8s.io/kueue/client-go/clientset/versioned"

	"espalier.dev/espalier"
	"espalier.dev/espalier/internal/bridge/cluster"
	"espalier.dev/espalier/internal/bridge/config"
	"espalier.dev/espalier/internal/bridge/events"
	"espalier.dev/espalier/internal/bridge/explain"
	"espalier.dev/espalier/internal/bridge/gate"
	"espalier.dev/espalier/internal/bridge/report"
	"espalier.dev/espalier/internal/bridge/shadow"
	"espalier.dev/espalier/internal/bridge/web"
)

// Times of the Lease. A replica that cannot renew it stops acting before another one can take it.
const (
	leaseDuration = 30 * time.Second
	renewDeadline = 20 * time.Second
	retryPeriod   = 5 * time.Second
)

// Clients reach a cluster.
type Clients struct {
	Kubernetes kubernetes.Interface
	Kueue      versioned.Interface // nil: the cluster has no Kueue
	Dynamic    dynamic.Interface   // nil: no groups of other APIs are read
}

// bridge is one that runs.
type bridge struct {
	config   config.Config
	clients  Clients
	logger   *slog.Logger
	client   *espalier.Client
	cluster  *cluster.Cluster
	mirror   *espalier.Mirror
	report   *report.Live
	explain  *explain.Explainer // nil: workloads are not explained
	shadow   *shadow.Shadow     // nil: decisions are not compared
	gate     *gate.Gate         // nil: pods are not placed
	groups   *gate.Groups       // nil: those of other APIs are not read
	registry *prometheus.Registry
	acts     atomic.Bool                   // false: another replica does
	elector  *leaderelection.LeaderElector // nil: there is no Lease
}

// Run does what the configuration says until the context ends, then returns nil. Errors: what keeps
// it from starting; that the Lease was lost, as what was begun may not go on; that nobody can be
// listened to any more. `listening` is told the address of health, metrics and reports.
func Run(ctx context.Context, c config.Config, clients Clients, logger *slog.Logger, listening func(net.Addr)) error {
	b := &bridge{config: c, clients: clients, logger: logger, registry: prometheus.NewRegistry()}
	if err := b.build(); err != nil {
		return err
	}
	defer b.client.Close()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var running sync.WaitGroup
	defer running.Wait()
	if c.Listen != "" {
		listener, err := net.Listen("tcp", c.Listen)
		if err != nil {
			return fmt.Errorf("listen: %w", err)
		}
		if listening != nil {
			listening(listener.Addr())
		}
		server := &http.Server{Handler: b.handler(), ReadHeaderTimeout: 10 * time.Second}
		running.Go(func() {
			if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
				stop(fmt.Errorf("listen: %w", err))
			}
		})
		running.Go(func() {
			<-ctx.Done()
			_ = server.Close()
		})
	}
	b.cluster.Start(ctx)
	if !c.LeaderElection.Enabled {
		b.act(ctx)
	} else if err := b.actAsLeader(ctx); err != nil {
		stop(err)
	}
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

func (b *bridge) build() error {
	var err error
	dial := []espalier.Option{espalier.WithState(b.config.State)}
	if files := b.config.TLS; files.CA != "" {
		dial = append(dial, espalier.WithTLS(espalier.TLS(files)))
	}
	if b.client, err = espalier.Dial(b.config.Server, dial...); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	options := espalier.MirrorOptions{
		BatchWindow:   b.config.Mirror.BatchWindow.Duration,
		CheckInterval: b.config.Mirror.CheckInterval.Duration,
		Logger:        b.logger,
		Metrics:       espalier.NewMetrics(),
		Notify: func(object any, deleted bool) {
			// All of them are there before the informers are started.
			if b.report != nil {
				b.report.Notify(object)
			}
			if b.gate != nil {
				b.gate.Notify(object, deleted)
			}
			if b.shadow != nil {
				b.shadow.Notify(object, deleted)
			}
		},
	}
	if file := b.config.Mirror.KueueConfigurationFile; file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("mirror.kueueConfigurationFile: %w", err)
		}
		options.KueueConfiguration = string(text)
	}
	b.cluster = cluster.New(b.clients.Kubernetes, b.clients.Kueue)
	if b.mirror, err = espalier.NewMirror(b.client, b.cluster.Informers(), options); err != nil {
		return err
	}
	b.registry.MustRegister(options.Metrics, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if b.clients.Kueue != nil && b.config.Topology != nil {
		b.logger.Warn("the topology of the configuration does not count, as Kueue has its own")
	} else if b.config.Topology != nil {
		topology, flavor := cluster.WithoutKueue(b.config.Topology)
		b.mirror.Set(topology)
		b.mirror.Set(flavor)
	}
	writer := func() *events.Writer {
		return events.New(b.clients.Kubernetes, b.config.Explain.EventsPerMinute, b.config.DryRun, b.logger)
	}
	if b.config.Explain.Enabled && b.clients.Kueue == nil {
		b.logger.Warn("nothing is explained, as the cluster has no Kueue")
	} else if b.config.Explain.Enabled {
		b.explain = explain.New(b.client, b.cluster.Kueue, writer(), clock.RealClock{}, b.logger)
		b.registry.MustRegister(b.explain.Collectors()...)
	}
	if b.config.Shadow.Enabled && b.clients.Kueue == nil {
		b.logger.Warn("no decisions are compared, as the cluster has no Kueue")
	} else if b.config.Shadow.Enabled {
		options := shadow.Options{Clock: clock.RealClock{}, Logger: b.logger}
		if file := b.config.Shadow.Log; file != "" {
			if options.Log, err = shadow.OpenLog(file); err != nil {
				return fmt.Errorf("shadow.log: %w", err)
			}
		}
		b.shadow = shadow.New(b.client, b.mirror, b.cluster.Kueue, options)
		b.registry.MustRegister(b.shadow.Collectors()...)
		if endpoint := b.config.Shadow.KueueMetrics; endpoint.URL != "" {
			metrics, err := shadow.NewKueueMetrics(shadow.KueueEndpoint(endpoint), b.logger)
			if err != nil {
				return fmt.Errorf("shadow.kueueMetrics: %w", err)
			}
			b.registry.MustRegister(metrics)
		}
	}
	if b.config.Gate.Enabled {
		b.gate = gate.New(b.clients.Kubernetes, b.client, b.mirror, b.cluster.Core, writer(),
			gate.Options{DryRun: b.config.DryRun, Logger: b.logger, MayWrite: b.leads})
		b.registry.MustRegister(b.gate.Collectors()...)
		if b.clients.Dynamic != nil {
			if b.groups, err = gate.NewGroups(b.clients.Kubernetes.Discovery(), b.clients.Dynamic, b.gate.Wake); err != nil {
				return err
			}
			b.gate.UseGroups(b.groups)
		}
	}
	shown := report.Options{Client: b.client, Links: web.Links(b.explain != nil), Clock: clock.RealClock{}}
	if b.explain != nil {
		shown.Reports = b.explain
	}
	if b.gate != nil {
		shown.Gate = b.gate
	}
	if b.clients.Kueue != nil {
		shown.Workloads = b.cluster.Kueue.Kueue().V1beta2().Workloads().Lister()
	}
	b.report = report.New(shown)
	return nil
}

func (b *bridge) handler() http.Handler {
	options := web.Options{Server: b.client, Report: b.report, Ready: b.ready, Metrics: b.registry}
	if b.explain != nil {
		options.Reports = b.explain
	}
	return web.New(options)
}

// ready returns why the server's state is not that of the cluster. A replica that waits for the
// Lease is ready to act.
func (b *bridge) ready() error {
	if !b.acts.Load() {
		if b.config.LeaderElection.Enabled {
			return nil
		}
		return errors.New("not started yet")
	}
	position, err := b.mirror.Position()
	if err == nil && position == (espalier.Position{}) {
		err = errors.New("the state is not loaded yet")
	}
	return err
}

// act works until the context ends.
func (b *bridge) act(ctx context.Context) {
	b.acts.Store(true)
	defer b.acts.Store(false)
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { _ = b.mirror.Run(ctx) })
	if b.explain == nil && b.gate == nil && b.shadow == nil {
		return
	}
	if err := b.cluster.WaitForSync(ctx); err != nil {
		return
	}
	if _, err := b.mirror.Flush(ctx); err != nil { // nothing is asked of an empty state
		return
	}
	if b.groups != nil {
		if err := b.groups.Start(ctx); err != nil {
			return
		}
	}
	if b.explain != nil {
		running.Go(func() { b.explain.Run(ctx, b.config.Explain.Interval.Duration) })
	}
	if b.shadow != nil {
		b.shadow.Begin()
		running.Go(func() { b.shadow.Run(ctx) })
	}
	if b.gate != nil {
		running.Go(func() { b.gate.Run(ctx, b.config.Gate.Interval.Duration) })
	}
}

// actAsLeader works while this replica has the Lease. It returns once everything has stopped.
func (b *bridge) actAsLeader(ctx context.Context) error {
	namespace, err := b.leaseNamespace()
	if err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("identity of this replica: %w", err)
	}
	identity := fmt.Sprintf("%s_%d_%d", host, os.Getpid(), time.Now().UnixNano())
	led := make(chan struct{}) // closed once leading began
	stopped := make(chan struct{})
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: namespace, Name: b.config.LeaderElection.Name},
			Client:     b.clients.Kubernetes.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
		},
		LeaseDuration: leaseDuration, RenewDeadline: renewDeadline, RetryPeriod: retryPeriod,
		// Not ReleaseOnCancel: what was begun may still be on its way when the context ends.
		Name: b.config.LeaderElection.Name,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(leading context.Context) {
				close(led)
				defer close(stopped)
				b.logger.Info("this replica acts from now on", "identity", identity)
				b.act(leading)
			},
			OnStoppedLeading: func() {},
			OnNewLeader:      func(other string) { b.logger.Info("leader", "identity", other) },
		},
	})
	if err != nil {
		return fmt.Errorf("leader election: %w", err)
	}
	b.elector = elector
	elector.Run(ctx)
	select {
	case <-led:
		<-stopped
	default:
	}
	if ctx.Err() == nil {
		return errors.New("the Lease was lost: another replica may act now")
	}
	return nil
}

// leads returns why another replica may act by now: one that was stopped for a while goes on before it
// hears that its Lease is over.
func (b *bridge) leads() error {
	switch {
	case b.elector == nil:
		return nil
	case !b.elector.IsLeader():
		return errors.New("another replica has the Lease")
	default:
		return b.elector.Check(renewDeadline - leaseDuration)
	}
}

// namespaceFile is where a pod finds its namespace.
const namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

func (b *bridge) leaseNamespace() (string, error) {
	if namespace := b.config.LeaderElection.Namespace; namespace != "" {
		return namespace, nil
	}
	text, err := os.ReadFile(namespaceFile)
	if err != nil {
		return "", errors.New("leaderElection.namespace: is empty, and this is no pod; want the namespace of the Lease")
	}
	return strings.TrimSpace(string(text)), nil
}
