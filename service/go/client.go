package espalier

import (
	"context"
	"fmt"
	"net"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	pb "espalier.dev/espalier/gen/espalier/v1"
)

// defaultMaxMessageBytes is the largest message that a server sends unless it was told otherwise.
const defaultMaxMessageBytes = 64 << 20

// Client asks one server. Its methods may be called at once from several goroutines; each is bound
// by its context, as a server without a deadline answers when it has an answer.
type Client struct {
	conn  grpc.ClientConnInterface
	close func() error

	state      pb.ClusterStateClient
	placement  pb.PlacementClient
	questions  pb.QuestionsClient
	stateName  string
	maxMessage int
	tls        *TLS // nil: plain text
	grpc       []grpc.DialOption
}

// Option changes what Dial does.
type Option func(*Client)

// WithState lets all calls be about the server's state of that name, in the place of the one without
// a name.
func WithState(name string) Option { return func(c *Client) { c.stateName = name } }

// WithMaxMessageBytes sets the size of the largest answer that is taken, as --max-message-bytes of
// the server does.
func WithMaxMessageBytes(bytes int) Option { return func(c *Client) { c.maxMessage = bytes } }

// WithGRPC adds options of gRPC, such as transport credentials of your own, which replace those of
// WithTLS and the plain text that is the default.
func WithGRPC(options ...grpc.DialOption) Option {
	return func(c *Client) { c.grpc = append(c.grpc, options...) }
}

// Dial returns a client of the server at an address as `espalier serve --listen` takes it:
// unix:/path/to/socket or HOST:PORT. It does not wait for the server; the first call does. Errors:
// the address is neither, or files of WithTLS cannot be used.
func Dial(address string, options ...Option) (*Client, error) {
	target, err := target(address)
	if err != nil {
		return nil, err
	}
	c := &Client{maxMessage: defaultMaxMessageBytes}
	for _, option := range options {
		option(c)
	}
	transport := grpc.WithTransportCredentials(insecure.NewCredentials())
	if c.tls != nil {
		if strings.HasPrefix(address, "unix:") {
			return nil, fmt.Errorf("address %q: a unix socket has no TLS", address)
		}
		if transport, err = c.tls.transport(); err != nil {
			return nil, err
		}
	}
	dial := append([]grpc.DialOption{
		transport,
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(c.maxMessage), grpc.MaxCallSendMsgSize(c.maxMessage)),
	}, c.grpc...)
	conn, err := grpc.NewClient(target, dial...)
	if err != nil {
		return nil, fmt.Errorf("address %q: %w", address, err)
	}
	c.use(conn)
	c.close = conn.Close
	return c, nil
}

// NewClient returns a client on a connection of the caller's, which Close leaves open.
func NewClient(conn grpc.ClientConnInterface, options ...Option) *Client {
	c := &Client{close: func() error { return nil }}
	for _, option := range options {
		option(c)
	}
	c.use(conn)
	return c
}

func (c *Client) use(conn grpc.ClientConnInterface) {
	c.conn = conn
	c.state = pb.NewClusterStateClient(conn)
	c.placement = pb.NewPlacementClient(conn)
	c.questions = pb.NewQuestionsClient(conn)
}

func target(address string) (string, error) {
	if path, isSocket := strings.CutPrefix(address, "unix:"); isSocket {
		if path == "" {
			return "", fmt.Errorf("address %q: no path; want unix:/path/to/socket", address)
		}
		return address, nil
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil || port == "" {
		return "", fmt.Errorf("address %q: want unix:/path/to/socket or HOST:PORT", address)
	}
	return "dns:///" + net.JoinHostPort(host, port), nil
}

// Close ends the connection that Dial opened.
func (c *Client) Close() error { return c.close() }

// Conn returns the connection, for calls of espalier.v1 that have no method here.
func (c *Client) Conn() grpc.ClientConnInterface { return c.conn }

// StateName returns the name of the state that calls are about; empty: the one without a name.
func (c *Client) StateName() string { return c.stateName }

// Position says which state of a server something was computed on. The zero Position is none.
type Position struct {
	Epoch      uint64 // changes with every start of the server
	Generation uint64 // changes with every change of the state
}

func positionOf(message *pb.StatePosition) Position {
	return Position{message.GetEpoch(), message.GetGeneration()}
}

func (p Position) message() *pb.StatePosition {
	if p == (Position{}) {
		return nil // whatever is current
	}
	return &pb.StatePosition{Epoch: p.Epoch, Generation: p.Generation}
}

func (p Position) String() string { return fmt.Sprintf("%016x/%d", p.Epoch, p.Generation) }

// Flavor outlines a flavor with a topology in a state.
type Flavor struct {
	Name    string   `json:"name"`
	Levels  []string `json:"levels"`  // keys of labels, coarsest first
	Domains []int64  `json:"domains"` // per level
	Nodes   int64    `json:"nodes"`   // available ones
}

// Summary outlines the state that a server holds.
type Summary struct {
	Position  Position
	Nodes     int64
	Workloads int64 // admitted ones that the state knows by key
	Flavors   []Flavor
	// Checksum is equal for equal contents, in all servers of one release; 0 before the first load.
	Checksum uint64
}

// Summary returns what the server holds.
func (c *Client) Summary(ctx context.Context) (*Summary, error) {
	reply, err := c.state.GetStateSummary(ctx, &pb.GetStateSummaryRequest{StateName: c.stateName})
	if err != nil {
		return nil, fmt.Errorf("summary of the state: %w", err)
	}
	summary := &Summary{
		Position:  positionOf(reply.GetState()),
		Nodes:     reply.GetNodes(),
		Workloads: reply.GetWorkloads(),
		Checksum:  reply.GetChecksum(),
	}
	for _, flavor := range reply.GetFlavors() {
		summary.Flavors = append(summary.Flavors, Flavor{
			Name: flavor.GetName(), Levels: flavor.GetLevels(),
			Domains: flavor.GetDomainCounts(), Nodes: flavor.GetNodes(),
		})
	}
	return summary, nil
}

// load replaces the whole state by what chunks hold.
func (c *Client) load(ctx context.Context, chunks []*pb.LoadStateRequest) (Position, []string, error) {
	stream, err := c.state.LoadState(ctx)
	if err != nil {
		return Position{}, nil, fmt.Errorf("load of the state: %w", err)
	}
	for _, chunk := range chunks {
		if stream.Send(chunk) != nil {
			break // CloseAndRecv says why
		}
	}
	reply, err := stream.CloseAndRecv()
	if err != nil {
		return Position{}, nil, fmt.Errorf("load of the state: %w", err)
	}
	return positionOf(reply.GetState()), reply.GetWarnings(), nil
}
