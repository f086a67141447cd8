import { type Cidr, containsCidr, halves, sameCidr } from "./cidr";

const EXCLUSIVE = -1;

interface Node {
  readonly cidr: Cidr;
  /** How many hold the network together, or {@link EXCLUSIVE}. */
  holders: number;
  /** Present exactly while something below is held. */
  children?: readonly [Node, Node];
}

/**
 * Which networks of a pool are in use.
 *
 * A network is held exclusively, and then overlaps no other, or is shared any number of times; shared networks may contain each other. The shape of the
 * tree, and so what {@link acquireAny} chooses, depends on what is held alone, not on how it came about: a tree that is rebuilt
 * after a restart goes on like the one before (networking reference 6.3).
 */
export class PrefixTree {
  private readonly root: Node;

  constructor(readonly pool: Cidr) {
    this.root = { cidr: pool, holders: 0 };
  }

  /** Takes a network of the pool; false where what is held already stands in the way. */
  acquire(cidr: Cidr, exclusive: boolean): boolean {
    let node = this.root;
    while (!sameCidr(node.cidr, cidr)) {
      // Nodes are made below free ones only, so a failing call makes none.
      if (node.holders === EXCLUSIVE || (exclusive && node.holders > 0)) return false;
      node = towards(split(node), cidr);
    }
    if (exclusive) {
      if (node.holders !== 0 || node.children !== undefined) return false;
      node.holders = EXCLUSIVE;
    } else {
      if (node.holders === EXCLUSIVE || hasExclusive(node.children)) return false;
      node.holders += 1;
    }
    return true;
  }

  /**
   * Takes some free network of the given prefix length exclusively, close to others that are held; undefined where none is free.
   *
   * @param avoid networks that are not taken although nobody holds them
   */
  acquireAny(length: number, avoid: (cidr: Cidr) => boolean = () => false): Cidr | undefined {
    return acquireBelow(this.root, length, avoid);
  }

  /** Gives a network back, once for each time that it was acquired; does nothing where it is not held. */
  release(cidr: Cidr): void {
    const path: Node[] = [];
    let node: Node | undefined = this.root;
    while (node !== undefined && !sameCidr(node.cidr, cidr)) {
      path.push(node);
      node = node.children && towards(node.children, cidr);
    }
    if (node === undefined || node.holders === 0) return;
    node.holders = node.holders === EXCLUSIVE ? 0 : node.holders - 1;
    for (const parent of path.reverse()) {
      if (parent.children?.some(isUsed)) return;
      parent.children = undefined;
    }
  }

  /** Whether a network of the pool could be taken exclusively. */
  isAvailable(cidr: Cidr): boolean {
    let node = this.root;
    while (!sameCidr(node.cidr, cidr)) {
      if (node.holders !== 0) return false;
      if (node.children === undefined) return true;
      node = towards(node.children, cidr);
    }
    return !isUsed(node);
  }
}

function split(node: Node): readonly [Node, Node] {
  if (node.children === undefined) {
    const [left, right] = halves(node.cidr);
    node.children = [
      { cidr: left, holders: 0 },
      { cidr: right, holders: 0 },
    ];
  }
  return node.children;
}

function towards([left, right]: readonly [Node, Node], cidr: Cidr): Node {
  return containsCidr(left.cidr, cidr) ? left : right;
}

function isUsed({ holders, children }: Node): boolean {
  return holders !== 0 || children !== undefined;
}

function hasExclusive(nodes: readonly Node[] = []): boolean {
  return nodes.some(({ holders, children }) => holders === EXCLUSIVE || hasExclusive(children));
}

function acquireBelow(node: Node, length: number, avoid: (cidr: Cidr) => boolean): Cidr | undefined {
  if (node.holders !== 0 || node.cidr.length > length) return undefined;
  if (node.cidr.length === length) {
    if (node.children !== undefined || avoid(node.cidr)) return undefined;
    node.holders = EXCLUSIVE;
    return node.cidr;
  }
  const wasFree = node.children === undefined;
  const [left, right] = split(node);
  const rightFirst = left.children === undefined && right.children !== undefined;
  const [first, second] = rightFirst ? [right, left] : [left, right];
  const found = acquireBelow(first, length, avoid) ?? acquireBelow(second, length, avoid);
  if (found === undefined && wasFree) node.children = undefined;
  return found;
}
