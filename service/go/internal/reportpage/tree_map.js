// A flavor's topology with what is used in it, and how boxes for it are laid out.

// A domain is a level (0 is the coarsest) and a position among the domains of that level; the whole
// flavor is level -1, position 0.
class Topology {
  constructor(flavor, gangs, flavorIndex) {
    this.flavor = flavor;
    this.lowest = flavor.levels.length - 1;
    this.size = flavor.names.map((names) => names.length);
    this.leafCount = this.lowest < 0 ? 0 : this.size[this.lowest];
    this.firstLeaf = this.leafStarts();
    this.indexGangs(gangs, flavorIndex);
    const others = new Float64Array(this.leafCount);
    for (let i = 0; i < flavor.others.length; i += 2) others[flavor.others[i]] = flavor.others[i + 1];
    this.capacity = this.sumUp(Float64Array.from(flavor.capacity, (amount) => Math.max(0, amount)));
    this.others = this.sumUp(others);
    this.taken = this.sumUp(this.takenByGangs);
    this.found = new Map();  // what gangsIn has answered
  }

  // By level, where the leaves of each domain begin; one more entry closes the last.
  leafStarts() {
    const starts = [];
    for (let level = this.lowest; level >= 0; --level) {
      const own = new Int32Array(this.size[level] + 1);
      for (let i = 0; i <= this.size[level]; ++i) {
        own[i] = level === this.lowest ? i : starts[0][this.flavor.children[level][i]];
      }
      starts.unshift(own);
    }
    return starts;
  }

  // Who is on a leaf: entries [entryStart[leaf], entryStart[leaf + 1]).
  indexGangs(gangs, flavorIndex) {
    const count = new Int32Array(this.leafCount + 1);
    const forEach = (visit) => gangs.forEach((gang, i) => gang.podSets.forEach((podSet) => {
      if (podSet.flavor !== flavorIndex) return;
      for (let at = 0; at < podSet.leaves.length; at += 2) {
        visit(i, podSet, podSet.leaves[at], podSet.leaves[at + 1]);
      }
    }));
    forEach((gang, podSet, leaf) => ++count[leaf + 1]);
    for (let leaf = 0; leaf < this.leafCount; ++leaf) count[leaf + 1] += count[leaf];
    this.entryStart = count.slice();
    const total = count[this.leafCount];
    this.entryGang = new Int32Array(total);
    this.entryPods = new Float64Array(total);
    this.entryAmount = new Float64Array(total);
    this.takenByGangs = new Float64Array(this.leafCount);
    forEach((gang, podSet, leaf, pods) => {
      const entry = count[leaf]++;
      this.entryGang[entry] = gang;
      this.entryPods[entry] = pods;
      this.entryAmount[entry] = pods * podSet.each;
      this.takenByGangs[leaf] += pods * podSet.each;
    });
  }

  // By level, the sums of what the leaves of each domain have.
  sumUp(leaves) {
    const sums = [leaves];
    for (let level = this.lowest - 1; level >= 0; --level) {
      const sum = new Float64Array(this.size[level]);
      const children = this.flavor.children[level];
      for (let i = 0; i < sum.length; ++i) {
        for (let child = children[i]; child < children[i + 1]; ++child) sum[i] += sums[0][child];
      }
      sums.unshift(sum);
    }
    return sums;
  }

  total(sums) { return sums[0] ? sums[0].reduce((a, b) => a + b, 0) : 0; }

  of(sums, domain) { return domain.level < 0 ? this.total(sums) : sums[domain.level][domain.index]; }

  leaves(domain) {
    if (domain.level < 0) return [0, this.leafCount];
    const starts = this.firstLeaf[domain.level];
    return [starts[domain.index], starts[domain.index + 1]];
  }

  // The domains of a finer level in one, as [begin, end).
  within(domain, level) {
    if (domain.level < 0) return [0, this.size[level] || 0];
    let [begin, end] = [domain.index, domain.index + 1];
    for (let at = domain.level; at < level; ++at) {
      begin = this.flavor.children[at][begin];
      end = this.flavor.children[at][end];
    }
    return [begin, end];
  }

  // The domain of a coarser level that holds one; level -1 is the whole flavor.
  above(domain, level) {
    if (level < 0) return {level: -1, index: 0};
    const leaf = this.leaves(domain)[0];
    const starts = this.firstLeaf[level];
    let [low, high] = [0, this.size[level]];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (starts[middle] <= leaf) low = middle; else high = middle;
    }
    return {level, index: low};
  }

  // The finest domain that holds all of some leaves.
  holding(leaves) {
    let found = {level: -1, index: 0};
    if (leaves.length === 0) return found;
    const first = leaves.reduce((a, b) => Math.min(a, b));
    const last = leaves.reduce((a, b) => Math.max(a, b));
    for (let level = 0; level <= this.lowest; ++level) {
      const at = this.above({level: this.lowest, index: first}, level);
      if (last >= this.leaves(at)[1]) break;
      found = at;
    }
    return found;
  }

  name(domain) { return this.flavor.names[domain.level][domain.index]; }

  path(domain) {
    const names = [];
    for (let level = 0; level <= domain.level; ++level) names.push(this.name(this.above(domain, level)));
    return names.join("/");
  }

  // Who is in a domain, the one that takes most first: [gang, amount, pods] each.
  gangsIn(domain) {
    const key = `${domain.level} ${domain.index}`;
    if (this.found.has(key)) return this.found.get(key);
    const [begin, end] = this.leaves(domain);
    const found = new Map();
    for (let entry = this.entryStart[begin]; entry < this.entryStart[end]; ++entry) {
      const gang = this.entryGang[entry];
      const sum = found.get(gang) || [gang, 0, 0];
      sum[1] += this.entryAmount[entry];
      sum[2] += this.entryPods[entry];
      found.set(gang, sum);
    }
    const gangs = [...found.values()].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
    this.found.set(key, gangs);
    return gangs;
  }
}

// Divides a rectangle among weights into boxes that are as square as can be, in the order given
// (squarified tree map of Bruls, Huizing and van Wijk). Weights are positive and descend.
function squarify(weights, x, y, width, height) {
  const boxes = [];
  let left = weights.reduce((a, b) => a + b, 0);
  let begin = 0;
  while (begin < weights.length) {
    const side = Math.max(Math.min(width, height), 1e-9);
    const scale = left > 0 ? width * height / left : 0;
    let row = weights[begin] * scale;
    const largest = row;
    let end = begin + 1;
    const worst = (area, smallest) =>
      Math.max(side * side * largest / (area * area), area * area / (side * side * smallest));
    while (end < weights.length) {
      const next = weights[end] * scale;
      if (worst(row + next, next) > worst(row, weights[end - 1] * scale)) break;
      row += next;
      ++end;
    }
    const thickness = row / side;
    let at = 0;
    for (let i = begin; i < end; ++i) {
      const length = row > 0 ? side * weights[i] * scale / row : 0;
      boxes.push(width >= height ? [x, y + at, thickness, length] : [x + at, y, length, thickness]);
      left -= weights[i];
      at += length;
    }
    if (width >= height) {
      x += thickness;
      width -= thickness;
    } else {
      y += thickness;
      height -= thickness;
    }
    begin = end;
  }
  return boxes;
}
