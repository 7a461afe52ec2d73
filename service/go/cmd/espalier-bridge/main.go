// espalier-bridge keeps an Espalier server's state that of a cluster, says of waiting workloads why
// they wait, and places gangs of gated pods. See docs/bridge.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	"sigs.k8s.io/kueue/client-go/clientset/versioned"

	"espalier.dev/espalier/internal/bridge"
	"espalier.dev/espalier/internal/bridge/cluster"
	"espalier.dev/espalier/internal/bridge/config"
)

// Exit codes, as those of espalier.
const (
	exitUsage  = 2
	exitFailed = 4
)

// Requests a second to the API server, and how many may come at once: what a gate writes comes in
// bursts.
const (
	requestsPerSecond = 50
	burst             = 200
)

func main() {
	c, err := config.Read(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if errors.Is(err, config.ErrVersion) {
		fmt.Println(versionLine())
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "espalier-bridge:", err)
		os.Exit(exitUsage)
	}
	level := slog.LevelInfo
	if c.Debug {
		level = slog.LevelDebug
	}
	logger := slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	klog.SetSlogLogger(logger) // what client-go says
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, c, logger); err != nil {
		logger.Error("ended", "err", err)
		stop()
		os.Exit(exitFailed)
	}
}

func run(ctx context.Context, c config.Config, logger *slog.Logger) error {
	clients, err := connect(c.Kubeconfig)
	if err != nil {
		return err
	}
	return bridge.Run(ctx, c, clients, logger, func(address net.Addr) {
		logger.Info("listening", "address", address.String())
	})
}

// connect reaches the cluster of a file, else that of the pod's service account, else that of the
// user's configuration.
func connect(kubeconfig string) (bridge.Clients, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	var loaded *rest.Config
	var err error
	if kubeconfig == "" {
		loaded, err = rest.InClusterConfig()
	}
	if kubeconfig != "" || errors.Is(err, rest.ErrNotInCluster) {
		loaded, err = clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	}
	if err != nil {
		return bridge.Clients{}, fmt.Errorf("cluster: %w", err)
	}
	loaded.QPS, loaded.Burst = requestsPerSecond, burst
	loaded.UserAgent = "espalier-bridge"
	// Smaller than JSON, which is the only form of Kueue's objects.
	binary := rest.CopyConfig(loaded)
	binary.AcceptContentTypes, binary.ContentType = runtime.ContentTypeProtobuf+","+runtime.ContentTypeJSON, runtime.ContentTypeProtobuf
	core, err := kubernetes.NewForConfig(binary)
	if err != nil {
		return bridge.Clients{}, fmt.Errorf("cluster: %w", err)
	}
	clients := bridge.Clients{Kubernetes: core}
	if clients.Dynamic, err = dynamic.NewForConfig(loaded); err != nil {
		return bridge.Clients{}, fmt.Errorf("cluster: %w", err)
	}
	hasKueue, err := cluster.HasKueue(core)
	if err != nil {
		return bridge.Clients{}, fmt.Errorf("cluster: %w", err)
	}
	if hasKueue {
		if clients.Kueue, err = versioned.NewForConfig(loaded); err != nil {
			return bridge.Clients{}, fmt.Errorf("cluster: %w", err)
		}
	}
	return clients, nil
}
