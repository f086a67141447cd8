/** Cuts a template in the language of Go's `text/template` into text and actions, and actions into words. */

export type Token =
  | { kind: "field" | "variable" | "word"; name: string; spaced: boolean; source: string }
  | { kind: "literal"; value: string | number; spaced: boolean; source: string }
  | { kind: "dot" | ":=" | "=" | "," | "|" | "(" | ")"; spaced: boolean; source: string };

export type Piece = { kind: "text"; text: string } | { kind: "action"; tokens: Token[]; source: string };

/** The template cannot be read, or does not fit the data. */
export class TemplateError extends Error {
  override readonly name = "TemplateError";
}

export function piecesOf(template: string): Piece[] {
  const pieces: Piece[] = [];
  let position = 0;
  let trimNext = false;
  const pushText = (end: number, trimEnd: boolean) => {
    let text = template.slice(position, end);
    if (trimNext) text = text.replace(/^[ \t\r\n]+/, "");
    if (trimEnd) text = withoutTrailingSpace(text);
    if (text !== "") pieces.push({ kind: "text", text });
  };
  for (;;) {
    const open = template.indexOf("{{", position);
    if (open < 0) break;
    const trimBefore = /^-[ \t\r\n]/.test(template.slice(open + 2, open + 4));
    pushText(open, trimBefore);
    const begin = open + (trimBefore ? 3 : 2);
    const end = endOfAction(template, begin);
    let content = template.slice(begin, end);
    trimNext = /[ \t\r\n]-$/.test(content);
    if (trimNext) content = content.slice(0, -1);
    if (!content.trim().startsWith("/*")) {
      pieces.push({ kind: "action", tokens: tokensOf(content), source: `{{${content}}}` });
    }
    position = end + 2;
  }
  pushText(template.length, false);
  return pieces;
}

/** In one step back, where a pattern would begin anew at each space. */
function withoutTrailingSpace(text: string): string {
  let end = text.length;
  while (end > 0 && " \t\r\n".includes(text[end - 1] ?? "x")) end -= 1;
  return text.slice(0, end);
}

/** Where the braces close that are not inside a string. */
function endOfAction(template: string, begin: number): number {
  const rest = template.slice(begin);
  if (/^\s*\/\*/.test(rest)) {
    const comment = /^\s*\/\*[^]*?\*\/\s*-?(?=\}\})/.exec(rest);
    if (comment === null) throw new TemplateError(`a comment does not end: {{${start(rest)}`);
    return begin + comment[0].length;
  }
  const inside = /"(?:\\.|[^"\\\n])*"|`[^`]*`|\}\}|["`]/g;
  for (const match of rest.matchAll(inside)) {
    if (match[0] === "}}") return begin + match.index;
    if (match[0].length === 1) throw new TemplateError(`a string does not end: {{${start(rest)}`);
  }
  throw new TemplateError(`an action does not end, }} is missing: {{${start(rest)}`);
}

function start(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}

const TOKEN =
  /(\s*)(?:\.([A-Za-z_]\w*)|\$(\w*)|("(?:\\.|[^"\\])*")|`([^`]*)`|([+-]?(?:0[xX][\da-fA-F]+|\d+(?:\.\d+)?))(?![\w.])|([A-Za-z_]\w*)|(:=|[.=,|()]))/y;

function tokensOf(content: string): Token[] {
  const tokens: Token[] = [];
  const end = content.trimEnd().length;
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < end) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(content);
    if (match === null) {
      throw new TemplateError(
        `cannot read ${JSON.stringify(start(content.slice(at).trim()))} in {{${content}}}`,
      );
    }
    tokens.push(tokenOf(match));
  }
  return tokens;
}

function tokenOf([whole, space, field, variable, quoted, raw, number, word, sign]: RegExpExecArray): Token {
  const at = { spaced: space !== "", source: whole.trim() };
  if (field !== undefined) return { kind: "field", name: field, ...at };
  if (variable !== undefined) return { kind: "variable", name: variable, ...at };
  if (quoted !== undefined) return { kind: "literal", value: unquoted(quoted), ...at };
  if (raw !== undefined) return { kind: "literal", value: raw, ...at };
  if (number !== undefined) return { kind: "literal", value: Number(number), ...at };
  if (word !== undefined) return { kind: "word", name: word, ...at };
  switch (sign) {
    case ".":
      return { kind: "dot", ...at };
    case ":=":
    case "=":
    case ",":
    case "|":
    case "(":
    case ")":
      return { kind: sign, ...at };
    default:
      throw new TemplateError(`cannot read ${whole}`);
  }
}

const ESCAPES: Record<string, string> = { n: "\n", t: "\t", r: "\r", '"': '"', "\\": "\\", "'": "'" };

function unquoted(text: string): string {
  return text.slice(1, -1).replace(/\\(?:u([\da-fA-F]{4})|x([\da-fA-F]{2})|(.))/g, (escape, u, x, letter) => {
    const code: unknown = u ?? x;
    if (typeof code === "string") return String.fromCharCode(Number.parseInt(code, 16));
    const character = ESCAPES[String(letter)];
    if (character === undefined) throw new TemplateError(`unknown escape ${escape} in ${text}`);
    return character;
  });
}
