import {
  describe,
  type Evaluated,
  FUNCTIONS,
  isMap,
  isStruct,
  isTrue,
  printed,
  type TemplateStruct,
  type TemplateValue,
} from "./functions";
import {
  type Command,
  type Operand,
  parseTemplate,
  type PathRoot,
  type Pipeline,
  type TemplateNode,
} from "./parse";
import { TemplateError } from "./tokens";

/**
 * Fills in a template of Go's `text/template`: fields, variables, pipelines, `if`, `with`, `range`, and its functions for comparing, choosing
 * and printing. Named templates are not supported.
 *
 * @throws TemplateError when the template cannot be read, or names what the data does not have
 */
export function renderTemplate(template: string, data: TemplateStruct): string {
  if (!template.includes("{{")) return template;
  const scope = new Scope(undefined);
  scope.declare("", data);
  return new Evaluator().nodes(parseTemplate(template), data, scope);
}

/** The variables of a block; inner blocks see those of outer ones. */
class Scope {
  private readonly values = new Map<string, Evaluated>();

  constructor(private readonly outer: Scope | undefined) {}

  declare(name: string, value: Evaluated): void {
    this.values.set(name, value);
  }

  assign(name: string, value: Evaluated): void {
    const home = this.homeOf(name);
    home.values.set(name, value);
  }

  get(name: string): Evaluated {
    return this.homeOf(name).values.get(name);
  }

  private homeOf(name: string): Scope {
    if (this.values.has(name)) return this;
    if (this.outer === undefined) throw new TemplateError(`the variable $${name} is not declared`);
    return this.outer.homeOf(name);
  }
}

class Evaluator {
  private steps = 0;

  nodes(nodes: readonly TemplateNode[], dot: Evaluated, scope: Scope): string {
    return nodes.map((node) => this.node(node, dot, scope)).join("");
  }

  private node(node: TemplateNode, dot: Evaluated, scope: Scope): string {
    this.steps += 1;
    if (this.steps > MOST_STEPS) throw new TemplateError(`its ranges take more than ${MOST_STEPS} steps`);
    switch (node.kind) {
      case "text":
        return node.text;
      case "output":
        return this.located(node.pipeline, () => printed(this.pipeline(node.pipeline, dot, scope)));
      case "assign": {
        const value = this.pipeline(node.pipeline, dot, scope);
        if (node.declare) scope.declare(node.name, value);
        else this.located(node.pipeline, () => scope.assign(node.name, value));
        return "";
      }
      case "if":
      case "with": {
        const value = this.pipeline(node.pipeline, dot, scope);
        const inner = new Scope(scope);
        if (node.variable !== undefined) inner.declare(node.variable, value);
        if (!isTrue(value)) return this.nodes(node.otherwise, dot, inner);
        return this.nodes(node.body, node.kind === "with" ? value : dot, inner);
      }
      case "range":
        return this.range(node, dot, scope);
    }
  }

  private range(node: Extract<TemplateNode, { kind: "range" }>, dot: Evaluated, scope: Scope): string {
    const value = this.pipeline(node.pipeline, dot, scope);
    const entries = this.located(node.pipeline, () => entriesOf(value));
    if (entries.length === 0) return this.nodes(node.otherwise, dot, new Scope(scope));
    return entries
      .map(([index, element]) => {
        const inner = new Scope(scope);
        if (node.index !== undefined) inner.declare(node.index, index);
        if (node.element !== undefined) inner.declare(node.element, element);
        return this.nodes(node.body, element, inner);
      })
      .join("");
  }

  private pipeline(pipeline: Pipeline, dot: Evaluated, scope: Scope): Evaluated {
    const [first, ...rest] = pipeline.commands;
    return this.located(pipeline, () =>
      rest.reduce<Evaluated>(
        (before, command) => this.command(command, dot, scope, [before]),
        this.command(first, dot, scope, []),
      ),
    );
  }

  private command(command: Command, dot: Evaluated, scope: Scope, piped: Evaluated[]): Evaluated {
    if (command.kind === "value") {
      if (piped.length > 0) throw new TemplateError("a value takes no operands; a function must follow |");
      return this.operand(command.operand, dot, scope);
    }
    const { function: name, operands } = command;
    const lazily = [
      ...operands.map((operand) => () => this.operand(operand, dot, scope)),
      ...piped.map((value) => () => value),
    ];
    if (name === "and" || name === "or") return chosen(name, lazily);
    const run = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined;
    if (run === undefined) {
      throw new TemplateError(
        `there is no function ${name}; there are and, or, ${Object.keys(FUNCTIONS).join(", ")}`,
      );
    }
    return run(...lazily.map((operand) => operand()));
  }

  private operand(operand: Operand, dot: Evaluated, scope: Scope): Evaluated {
    if (operand.kind === "literal") return operand.value;
    return operand.fields.reduce(fieldOf, this.root(operand.root, dot, scope));
  }

  private root(root: PathRoot, dot: Evaluated, scope: Scope): Evaluated {
    switch (root.of) {
      case "dot":
        return dot;
      case "variable":
        return scope.get(root.name);
      case "pipeline":
        return this.pipeline(root.pipeline, dot, scope);
    }
  }

  /** Says in which action something went wrong, once. */
  private located<V>({ source }: Pipeline, work: () => V): V {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof TemplateError) || error.cause !== undefined) throw error;
      throw new TemplateError(`${source}: ${error.message}`, { cause: error });
    }
  }
}

/** The first operand that decides, else the last; those after it are not looked at. */
function chosen(name: "and" | "or", operands: (() => Evaluated)[]): Evaluated {
  if (operands.length === 0) throw new TemplateError(`${name} needs an operand`);
  let value: Evaluated;
  for (const operand of operands) {
    value = operand();
    if (isTrue(value) === (name === "or")) return value;
  }
  return value;
}

function fieldOf(value: Evaluated, field: string): Evaluated {
  if (isMap(value)) return value.get(field);
  if (isStruct(value)) {
    if (Object.hasOwn(value, field)) return value[field];
    throw new TemplateError(`there is no field ${field}; there are ${Object.keys(value).join(", ")}`);
  }
  throw new TemplateError(`${describe(value)} has no field ${field}`);
}

/** A template makes one object: nothing in it is there a thousand times, nor do ranges in ranges come to more than this. */
const LONGEST_RANGE = 1_000;
const MOST_STEPS = 100_000;

function entriesOf(value: Evaluated): [TemplateValue, TemplateValue][] {
  if (Array.isArray(value)) return value.map((item, index) => [index, item]);
  if (isMap(value)) return [...value].sort(([a], [b]) => (a < b ? -1 : 1));
  if (typeof value === "number" && Number.isInteger(value)) {
    if (value > LONGEST_RANGE) throw new TemplateError(`range over ${value}: more than ${LONGEST_RANGE}`);
    return Array.from({ length: Math.max(0, value) }, (_, index) => [index, index]);
  }
  if (value === null || value === undefined) return [];
  throw new TemplateError(`range over ${describe(value)}`);
}
