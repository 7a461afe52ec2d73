package gate

// Changed returns what tells Run to look at everything anew.
func (g *Gate) Changed() <-chan struct{} { return g.changed }
