/** Text to read as it is, and to copy. */
import { CopyButton } from "./copy-button.tsx";

export interface CodeBlockProps {
  readonly text: string;
  readonly what: string;
}

export const CodeBlock = ({ text, what }: CodeBlockProps) => (
  <div className="code-block">
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard */}
    <section className="scroll" tabIndex={0} aria-label={what}>
      <pre>{text}</pre>
    </section>
    <CopyButton text={text} what={what} />
  </div>
);

/** JSON as it is read best; what is none is left as it is. */
export function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
