/** Preformatted text with a copy button. */
import { CopyButton } from "./copy-button.tsx";

export interface CodeBlockProps {
  readonly text: string;
  readonly what: string;
}

export const CodeBlock = ({ text, what }: CodeBlockProps) => (
  <div className="code-block">
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard */}
    <section className="scroll" tabIndex={0} aria-label={what}>
      <pre>{text}</pre>
    </section>
    <CopyButton text={text} what={what} />
  </div>
);

/** JSON with indentation; other text unchanged. */
export function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
