import { type Piece, piecesOf, TemplateError, type Token } from "./tokens";

/** A value named in an action. */
export type Operand =
  | { kind: "literal"; value: string | number | boolean | null }
  | { kind: "path"; root: PathRoot; fields: string[] };
/** Where a path begins: the present value, a variable (the whole data is the one without a name), or the value of a pipeline. */
export type PathRoot =
  { of: "dot" } | { of: "variable"; name: string } | { of: "pipeline"; pipeline: Pipeline };

export type Command =
  { kind: "value"; operand: Operand } | { kind: "call"; function: string; operands: Operand[] };

/** Commands of which each gets the value of the one before as its last operand. */
export interface Pipeline {
  commands: [Command, ...Command[]];
  source: string;
}

export type TemplateNode =
  | { kind: "text"; text: string }
  | { kind: "output"; pipeline: Pipeline }
  | { kind: "assign"; declare: boolean; name: string; pipeline: Pipeline }
  | { kind: "if"; pipeline: Pipeline; variable?: string; body: TemplateNode[]; otherwise: TemplateNode[] }
  | { kind: "with"; pipeline: Pipeline; variable?: string; body: TemplateNode[]; otherwise: TemplateNode[] }
  | {
      kind: "range";
      pipeline: Pipeline;
      index?: string;
      element?: string;
      body: TemplateNode[];
      otherwise: TemplateNode[];
    };

/** @throws TemplateError */
export function parseTemplate(template: string): TemplateNode[] {
  const parser = new BodyParser(piecesOf(template));
  const { nodes, end } = parser.body();
  if (end !== undefined) throw new TemplateError(`${end.source} closes nothing`);
  return nodes;
}

type Action = Extract<Piece, { kind: "action" }>;

/** How deep blocks and parentheses may stand in each other: no template needs more, and deeper ones would exhaust the stack. */
const DEEPEST = 200;

class BodyParser {
  private position = 0;
  private depth = 0;

  constructor(private readonly pieces: readonly Piece[]) {}

  /** Up to the action that ends the body: `end` or an `else`; undefined at the end of the template. */
  body(): { nodes: TemplateNode[]; end: Action | undefined } {
    const nodes: TemplateNode[] = [];
    for (;;) {
      const piece = this.pieces[this.position];
      this.position += 1;
      if (piece === undefined) return { nodes, end: undefined };
      if (piece.kind === "text") {
        nodes.push(piece);
        continue;
      }
      const word = firstWord(piece);
      if (word === "end" || word === "else") return { nodes, end: piece };
      nodes.push(this.node(word, piece));
    }
  }

  private node(word: string | undefined, action: Action): TemplateNode {
    switch (word) {
      case "if":
      case "with":
      case "range":
        return this.block(word, action, 1);
      case "define":
      case "template":
      case "block":
      case "break":
      case "continue":
        throw new TemplateError(`${word} is not supported: ${action.source}`);
      default: {
        const line = new ActionParser(action, 0);
        const { names, declare } = line.assignment();
        const pipeline = line.wholePipeline();
        const [name, second] = names;
        if (name === undefined) return { kind: "output", pipeline };
        if (second !== undefined) throw new TemplateError(`only a range gives two values: ${action.source}`);
        return { kind: "assign", declare, name, pipeline };
      }
    }
  }

  private block(kind: "if" | "with" | "range", action: Action, from: number): TemplateNode {
    const line = new ActionParser(action, from);
    const { names, declare } = line.assignment();
    if (names.length > 0 && !declare) throw new TemplateError(`${kind} takes := only: ${action.source}`);
    const pipeline = line.wholePipeline();
    this.depth += 1;
    if (this.depth > DEEPEST) throw new TemplateError(`more than ${DEEPEST} blocks in each other`);
    const { nodes: body, end } = this.body();
    const otherwise = this.otherwise(kind, action, end);
    this.depth -= 1;
    const [first, second] = names;
    if (kind !== "range") {
      if (second !== undefined) throw new TemplateError(`only a range gives two values: ${action.source}`);
      return { kind, pipeline, ...(first !== undefined && { variable: first }), body, otherwise };
    }
    const [index, element] = second === undefined ? [undefined, first] : [first, second];
    return {
      kind,
      pipeline,
      ...(index !== undefined && { index }),
      ...(element !== undefined && { element }),
      body,
      otherwise,
    };
  }

  private otherwise(kind: string, opened: Action, end: Action | undefined): TemplateNode[] {
    if (end === undefined) throw new TemplateError(`{{end}} is missing for ${opened.source}`);
    if (firstWord(end) === "end") return [];
    const next = end.tokens[1];
    if (next === undefined) {
      const { nodes, end: last } = this.body();
      if (last === undefined) throw new TemplateError(`{{end}} is missing for ${opened.source}`);
      if (firstWord(last) !== "end") throw new TemplateError(`a second else in ${opened.source}`);
      return nodes;
    }
    if (next.kind === "word" && next.name === kind && (kind === "if" || kind === "with")) {
      return [this.block(kind, end, 2)];
    }
    throw new TemplateError(`cannot read ${end.source}; write {{else}} or {{else ${kind} …}}`);
  }
}

function firstWord({ tokens: [first] }: Action): string | undefined {
  return first?.kind === "word" ? first.name : undefined;
}

class ActionParser {
  private depth = 0;

  constructor(
    private readonly action: Action,
    private position: number,
  ) {}

  /** The names before `:=` or `=`, if any. */
  assignment(): { names: string[]; declare: boolean } {
    const names: string[] = [];
    let ahead = this.position;
    const take = () => this.action.tokens[ahead++];
    for (let token = take(); token?.kind === "variable" && token.name !== ""; token = take()) {
      names.push(token.name);
      const sign = take();
      if (sign?.kind === ":=" || sign?.kind === "=") {
        this.position = ahead;
        return { names, declare: sign.kind === ":=" };
      }
      if (sign?.kind !== ",") break;
    }
    return { names: [], declare: false };
  }

  wholePipeline(): Pipeline {
    const pipeline = this.pipeline();
    const left = this.peek();
    if (left !== undefined) throw new TemplateError(`unexpected ${left.source} in ${this.action.source}`);
    return pipeline;
  }

  private pipeline(): Pipeline {
    const commands: [Command, ...Command[]] = [this.command()];
    while (this.peek()?.kind === "|") {
      this.position += 1;
      commands.push(this.command());
    }
    return { commands, source: this.action.source };
  }

  private command(): Command {
    const first = this.peek();
    const name = first?.kind === "word" && !CONSTANTS.has(first.name) ? first.name : undefined;
    if (name !== undefined) this.position += 1;
    const operands: Operand[] = [];
    while (this.startsOperand()) operands.push(this.operand());
    if (name !== undefined) return { kind: "call", function: name, operands };
    const [operand, ...more] = operands;
    if (operand === undefined) throw new TemplateError(`a value is missing in ${this.action.source}`);
    if (more.length > 0) {
      throw new TemplateError(
        `a value is followed by another in ${this.action.source}; a function comes first`,
      );
    }
    return { kind: "value", operand };
  }

  private startsOperand(): boolean {
    const kind = this.peek()?.kind;
    return kind !== undefined && kind !== "|" && kind !== ")";
  }

  private operand(): Operand {
    const token = this.peek();
    this.position += 1;
    switch (token?.kind) {
      case "literal":
        return { kind: "literal", value: token.value };
      case "word": {
        const value = CONSTANTS.get(token.name);
        if (value === undefined) {
          // A function without operands; with some, it stands in parentheses.
          return this.path({ of: "pipeline", pipeline: this.callOf(token.name) }, []);
        }
        return { kind: "literal", value };
      }
      case "dot":
        return this.path({ of: "dot" }, []);
      case "field":
        return this.path({ of: "dot" }, [token.name]);
      case "variable":
        return this.path({ of: "variable", name: token.name }, []);
      case "(": {
        this.depth += 1;
        if (this.depth > DEEPEST) throw new TemplateError(`more than ${DEEPEST} parentheses in each other`);
        const pipeline = this.pipeline();
        this.depth -= 1;
        if (this.peek()?.kind !== ")") throw new TemplateError(`a ) is missing in ${this.action.source}`);
        this.position += 1;
        return this.path({ of: "pipeline", pipeline }, []);
      }
      default:
        throw new TemplateError(`unexpected ${token?.source ?? "end"} in ${this.action.source}`);
    }
  }

  private callOf(name: string): Pipeline {
    return { commands: [{ kind: "call", function: name, operands: [] }], source: this.action.source };
  }

  /** Fields that follow without a space. */
  private path(root: PathRoot, fields: string[]): Operand {
    for (let next = this.peek(); next?.kind === "field" && !next.spaced; next = this.peek()) {
      fields.push(next.name);
      this.position += 1;
    }
    return { kind: "path", root, fields };
  }

  private peek(): Token | undefined {
    return this.action.tokens[this.position];
  }
}

const CONSTANTS = new Map<string, boolean | null>([
  ["true", true],
  ["false", false],
  ["nil", null],
]);
