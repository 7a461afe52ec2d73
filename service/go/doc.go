// Package espalier asks an Espalier server where gangs of pods go, and keeps the server's state that
// of a cluster.
//
//	client, err := espalier.Dial("unix:/run/espalier/espalier.sock")
//	...
//	mirror, err := espalier.NewMirror(client, espalier.Informers{Nodes: nodes, Pods: pods, ...})
//	go mirror.Run(ctx)
//	...
//	answers, err := client.Place(ctx, espalier.PlaceOptions{}, gang)
//
// It takes and gives the types of Kubernetes and of sigs.k8s.io/kueue/apis (v1beta2). See docs/go.md.
package espalier
