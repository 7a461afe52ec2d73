//go:build cluster

// Package clustertest runs espalier and espalier-bridge beside a real API server and scheduler.
// `make cluster-test` builds what it needs and runs it.
package clustertest

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/kueue/client-go/clientset/versioned"
	"sigs.k8s.io/yaml"

	"espalier.dev/espalier/internal/servertest"
)

// patience bounds what one step waits for; only a test that fails takes so long.
const patience = 5 * time.Minute

const (
	bridgeNamespace = "espalier-system"
	bridgeUser      = "system:serviceaccount:espalier-system:espalier-bridge"
)

// cluster is an API server with its store and a scheduler, on loopback.
type cluster struct {
	t                          testing.TB
	folder                     string
	etcdAddress                string
	address                    string
	etcd, apiServer, scheduler *process

	config  *rest.Config // of an administrator
	admin   string       // the same as a file
	client  kubernetes.Interface
	kueue   versioned.Interface
	dynamic dynamic.Interface
	ca      *authority
}

// until returns a context that ends with the test or with its patience.
func until(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// await waits until something holds that nothing tells of, or ends the test.
func await(t testing.TB, what string, holds func(context.Context) (bool, error)) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, patience, true, holds); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// startCluster starts a cluster without nodes that has Kueue's objects, and lets the bridge do what the folders of
// docker/kustomize say.
func startCluster(t testing.TB, rights ...string) *cluster {
	t.Helper()
	programs := os.Getenv("KUBERNETES_PROGRAMS")
	if programs == "" {
		t.Fatal("KUBERNETES_PROGRAMS is not set; run this by `make cluster-test`")
	}
	etcd, err := exec.LookPath("etcd")
	if err != nil {
		t.Fatalf("%v: install the package etcd-server", err)
	}
	folder, err := os.MkdirTemp("", "cluster")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !t.Failed() {
			_ = os.RemoveAll(folder)
		} else {
			t.Logf("logs are in %s", folder)
		}
	})
	c := &cluster{t: t, folder: folder, ca: newAuthority(t, folder)}
	peer := ""
	c.etcdAddress, peer = "http://"+freeAddress(t), "http://"+freeAddress(t)
	c.etcd = newProcess(t, folder, "etcd", etcd, "--data-dir", filepath.Join(folder, "etcd"),
		"--listen-client-urls", c.etcdAddress, "--advertise-client-urls", c.etcdAddress,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default="+peer,
		"--unsafe-no-fsync", "--logger=zap", "--log-level=warn")
	c.etcd.start()
	c.address = freeAddress(t)
	_, port, _ := net.SplitHostPort(c.address)
	// Not one flow mapping: what begins with a brace is read as JSON.
	c.write("audit.yaml", `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules: [{level: Metadata, users: ["`+bridgeUser+`"]}, {level: None}]
`)
	server := c.ca.issue("apiserver", "kube-apiserver")
	c.apiServer = newProcess(t, folder, "kube-apiserver", filepath.Join(programs, "kube-apiserver"),
		"--etcd-servers="+c.etcdAddress, "--bind-address=127.0.0.1", "--secure-port="+port, "--advertise-address=127.0.0.1",
		"--endpoint-reconciler-type=none", "--service-cluster-ip-range=10.0.0.0/24", "--authorization-mode=RBAC",
		"--client-ca-file="+c.ca.file, "--tls-cert-file="+server.certificate, "--tls-private-key-file="+server.key,
		"--service-account-issuer=https://cluster.test", "--service-account-key-file="+server.key,
		"--service-account-signing-key-file="+server.key,
		// No controllers are there that make accounts and say which nodes are ready.
		"--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
		"--feature-gates=GenericWorkload=true", "--runtime-config=scheduling.k8s.io/v1alpha1=true",
		"--etcd-compaction-interval=0", "--profiling=false", "--cert-dir="+folder,
		"--audit-policy-file="+c.path("audit.yaml"), "--audit-log-path="+c.path("audit.log"))
	c.apiServer.start()
	admin := c.ca.issue("admin", "admin", "system:masters")
	c.config, c.admin = c.ca.client(c.address, admin), c.kubeconfig("admin", c.address, admin)
	if c.client, err = kubernetes.NewForConfig(c.config); err != nil {
		t.Fatal(err)
	}
	if c.kueue, err = versioned.NewForConfig(c.config); err != nil {
		t.Fatal(err)
	}
	if c.dynamic, err = dynamic.NewForConfig(c.config); err != nil {
		t.Fatal(err)
	}
	c.awaitReady()
	c.installKueue()
	c.makeNamespace(bridgeNamespace)
	for _, folder := range rights {
		c.apply(filepath.Join(servertest.Repository(t), "docker", "kustomize", folder, "rbac.yaml"))
	}
	kubeconfig := c.kubeconfig("scheduler", c.address, c.ca.issue("scheduler", "system:kube-scheduler"))
	c.write("scheduler.yaml", `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: false}
clientConnection: {kubeconfig: "`+kubeconfig+`", qps: 500, burst: 1000}
`)
	_, schedulerPort, _ := net.SplitHostPort(freeAddress(t))
	c.scheduler = newProcess(t, folder, "kube-scheduler", filepath.Join(programs, "kube-scheduler"),
		"--config="+c.path("scheduler.yaml"), "--bind-address=127.0.0.1", "--secure-port="+schedulerPort, "--cert-dir="+folder)
	c.scheduler.supervise()
	return c
}

func (c *cluster) path(name string) string { return filepath.Join(c.folder, name) }

func (c *cluster) write(name, text string) {
	c.t.Helper()
	if err := os.WriteFile(c.path(name), []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

func (c *cluster) awaitReady() {
	c.t.Helper()
	await(c.t, "the API server is ready", func(ctx context.Context) (bool, error) {
		select {
		case <-c.apiServer.ended:
			return false, fmt.Errorf("it ended")
		default:
		}
		return c.client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error() == nil, nil
	})
}

// restartAPIServer ends the API server at once and starts it again. What clients watched from before
// is forgotten by then: its caches begin anew, and the store keeps the present alone.
func (c *cluster) restartAPIServer() {
	c.t.Helper()
	c.apiServer.kill()
	c.compact()
	c.apiServer.start()
	c.awaitReady()
}

// compact lets etcd forget all versions of objects but the last ones.
func (c *cluster) compact() {
	c.t.Helper()
	post := func(path, body string, answer any) {
		reply, err := http.Post(c.etcdAddress+path, "application/json", strings.NewReader(body))
		if err != nil {
			c.t.Fatal(err)
		}
		defer reply.Body.Close()
		if err := json.NewDecoder(reply.Body).Decode(answer); err != nil || reply.StatusCode != http.StatusOK {
			c.t.Fatalf("etcd: %s: %s: %v", path, reply.Status, err)
		}
	}
	var range_ struct{ Header struct{ Revision string } }
	post("/v3/kv/range", `{"key":"AA=="}`, &range_)
	post("/v3/kv/compaction", `{"revision":"`+range_.Header.Revision+`","physical":true}`, &struct{}{})
}

// installKueue makes the kinds of the Kueue that the module uses. Its controllers do not run.
func (c *cluster) installKueue() {
	c.t.Helper()
	folder, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kueue").Output()
	if err != nil {
		c.t.Fatalf("where the module of Kueue is: %v", err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(folder)), "config/components/crd/bases/*.yaml"))
	if err != nil || len(files) == 0 {
		c.t.Fatalf("no kinds in the module of Kueue (%v)", err)
	}
	for _, file := range files {
		c.apply(file)
	}
	await(c.t, "Kueue's kinds are served", func(ctx context.Context) (bool, error) {
		_, err := c.kueue.KueueV1beta2().Workloads("").List(ctx, metav1.ListOptions{})
		if err == nil {
			_, err = c.kueue.KueueV1beta2().Topologies().List(ctx, metav1.ListOptions{})
		}
		if err == nil {
			_, err = c.kueue.KueueV1beta2().LocalQueues("").List(ctx, metav1.ListOptions{})
		}
		if err == nil {
			_, err = c.kueue.KueueV1beta2().ClusterQueues().List(ctx, metav1.ListOptions{})
		}
		if err == nil {
			_, err = c.kueue.KueueV1beta2().ResourceFlavors().List(ctx, metav1.ListOptions{})
		}
		return err == nil, nil
	})
}

// apply creates the objects of a file.
func (c *cluster) apply(file string) {
	c.t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		c.t.Fatal(err)
	}
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
			c.t.Fatalf("%s: %v", file, err)
		}
		if len(object.Object) == 0 {
			continue
		}
		resource, _ := meta.UnsafeGuessKindToResource(object.GroupVersionKind())
		namespace := bridgeNamespace // that of the kustomization
		if isClusterWide(resource) {
			namespace = ""
		}
		_, err := c.dynamic.Resource(resource).Namespace(namespace).Create(until(c.t), object, metav1.CreateOptions{})
		if err != nil {
			c.t.Fatalf("%s: %s %s: %v", file, object.GetKind(), object.GetName(), err)
		}
	}
}

func isClusterWide(resource schema.GroupVersionResource) bool {
	return resource.Group == "apiextensions.k8s.io" || strings.HasPrefix(resource.Resource, "cluster")
}

func (c *cluster) makeNamespace(name string) {
	c.t.Helper()
	_, err := c.client.CoreV1().Namespaces().Create(until(c.t), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		c.t.Fatal(err)
	}
}

// call is a kind of request of the bridge.
type call struct {
	Verb, Resource string
	Code           int
}

// calls counts what the API server was asked by the bridge so far.
func (c *cluster) calls() map[call]int {
	c.t.Helper()
	file, err := os.Open(c.path("audit.log"))
	if err != nil {
		c.t.Fatal(err)
	}
	defer file.Close()
	counts := map[call]int{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event struct {
			Verb, Stage    string
			ObjectRef      struct{ Resource string }
			ResponseStatus struct{ Code int }
		}
		if json.Unmarshal(lines.Bytes(), &event) != nil {
			continue // the API server was ended in the middle of the line
		}
		// Watches count once they have begun, anything else once it has ended.
		if event.Stage == "ResponseStarted" || event.Stage == "ResponseComplete" && event.Verb != "watch" {
			counts[call{event.Verb, event.ObjectRef.Resource, event.ResponseStatus.Code}]++
		}
	}
	return counts
}

// checkRights tells of everything that the bridge was never allowed to do. An API server that starts
// refuses all for a while, as it does not know the roles yet.
func (c *cluster) checkRights() {
	c.t.Helper()
	refused := func(of call) bool { return of.Code == http.StatusForbidden || of.Code == http.StatusUnauthorized }
	allowed := map[call]bool{}
	for of := range c.calls() {
		allowed[call{Verb: of.Verb, Resource: of.Resource}] = allowed[call{Verb: of.Verb, Resource: of.Resource}] || !refused(of)
	}
	for of, times := range c.calls() {
		if refused(of) && !allowed[call{Verb: of.Verb, Resource: of.Resource}] {
			c.t.Errorf("the bridge may not %s %s (%d times); docker/kustomize/*/rbac.yaml", of.Verb, of.Resource, times)
		}
	}
	if len(allowed) == 0 {
		c.t.Error("no request of the bridge was seen")
	}
}

// lastPort is the last that freeAddress looked at. Ports below 32768 are not given to connections, which could
// take one before its program listens.
var lastPort atomic.Uint32

// freeAddress returns an address that nobody has, and that no other call returns.
func freeAddress(t testing.TB) string {
	t.Helper()
	const first, count = 20000, 12000
	for range count {
		port := first + (uint32(os.Getpid())*100+lastPort.Add(1))%count
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			_ = listener.Close()
			return listener.Addr().String()
		}
	}
	t.Fatal("no port is free")
	return ""
}

// authority issues certificates.
type authority struct {
	t           testing.TB
	folder      string
	file        string
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	mu          sync.Mutex
	serial      int64
}

// identity is a certificate with its key, as files.
type identity struct{ certificate, key string }

func newAuthority(t testing.TB, folder string) *authority {
	t.Helper()
	a := &authority{t: t, folder: folder}
	a.key, a.certificate = a.make(&x509.Certificate{
		Subject: pkix.Name{CommonName: "test"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, "ca")
	a.file = filepath.Join(folder, "ca.crt")
	return a
}

func (a *authority) make(template *x509.Certificate, name string) (*ecdsa.PrivateKey, *x509.Certificate) {
	a.t.Helper()
	a.mu.Lock()
	a.serial++
	template.SerialNumber = big.NewInt(a.serial)
	a.mu.Unlock()
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	parent, signer := a.certificate, a.key
	if parent == nil {
		parent, signer = template, key
	}
	bytes, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		a.t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(bytes)
	if err != nil {
		a.t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	for suffix, block := range map[string]*pem.Block{
		".crt": {Type: "CERTIFICATE", Bytes: bytes}, ".key": {Type: "EC PRIVATE KEY", Bytes: secret},
	} {
		if err := os.WriteFile(filepath.Join(a.folder, name+suffix), pem.EncodeToMemory(block), 0o600); err != nil {
			a.t.Fatal(err)
		}
	}
	return key, certificate
}

func (a *authority) issue(name, user string, groups ...string) identity {
	a.t.Helper()
	a.make(&x509.Certificate{
		Subject: pkix.Name{CommonName: user, Organization: groups}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}, name)
	return identity{filepath.Join(a.folder, name+".crt"), filepath.Join(a.folder, name+".key")}
}

func (a *authority) client(address string, as identity) *rest.Config {
	return &rest.Config{
		Host: "https://" + address, QPS: -1,
		TLSClientConfig: rest.TLSClientConfig{CAFile: a.file, CertFile: as.certificate, KeyFile: as.key},
	}
}

// kubeconfig writes how somebody reaches an address, and returns the file.
func (c *cluster) kubeconfig(name, address string, as identity) string {
	c.t.Helper()
	config := clientcmdapi.NewConfig()
	config.Clusters["test"] = &clientcmdapi.Cluster{Server: "https://" + address, CertificateAuthority: c.ca.file}
	config.AuthInfos["test"] = &clientcmdapi.AuthInfo{ClientCertificate: as.certificate, ClientKey: as.key}
	config.Contexts["test"] = &clientcmdapi.Context{Cluster: "test", AuthInfo: "test"}
	config.CurrentContext = "test"
	path := c.path(name + ".kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		c.t.Fatal(err)
	}
	return path
}

// startBridge starts a bridge with the rights of the manifests, and starts it again whenever it ends.
// A text is the rest of its configuration.
func (c *cluster) startBridge(name, address string, server *servertest.Server, rest string) *process {
	c.t.Helper()
	binary := os.Getenv("ESPALIER_BRIDGE")
	if binary == "" {
		binary = filepath.Join(servertest.Repository(c.t), "build", "espalier-bridge")
	}
	kubeconfig := c.kubeconfig(name, address, c.ca.issue(name, bridgeUser, "system:serviceaccounts"))
	c.write(name+".yaml", fmt.Sprintf("server: %s\nkubeconfig: %s\nlisten: 127.0.0.1:0\n%s", server.Address, kubeconfig, rest))
	bridge := newProcess(c.t, c.folder, name, binary, "--config", c.path(name+".yaml"))
	bridge.supervise()
	return bridge
}
