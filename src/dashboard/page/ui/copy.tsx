/** Texts to copy or to save: identifiers, code, secrets, files. */
import { type ReactNode, useEffect, useState } from "react";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";

/** Saves bytes or text, which the page has, as a file on the person's device. */
export function saveFile(name: string, type: string, content: BlobPart): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser has taken the bytes by the time of the next task.
  setTimeout(() => URL.revokeObjectURL(url), 0);
}

/** A button that copies text to the clipboard and confirms it. */
const CONFIRMED_MS = 1500;

interface CopyButtonProps {
  readonly text: string;
  /** What is copied, for screen readers. */
  readonly what: string;
  readonly label?: string;
}

export function CopyButton({ text, what, label }: CopyButtonProps) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), CONFIRMED_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  return (
    <>
      <Button
        variant={label === undefined ? "quiet" : "plain"}
        icon={isCopied ? "check" : "copy"}
        aria-label={`Copy ${what}`}
        onClick={() => copyText(text).then(() => setCopied(true))}
      >
        {label}
      </Button>
      <span role="status" className="hidden">
        {isCopied && `Copied ${what}`}
      </span>
    </>
  );
}

/** Puts text into the clipboard; rejects when the browser does not allow it. */
async function copyText(text: string): Promise<void> {
  if ("clipboard" in navigator) return navigator.clipboard.writeText(text);
  const put = (event: ClipboardEvent) => {
    event.preventDefault();
    event.clipboardData?.setData("text/plain", text);
  };
  document.addEventListener("copy", put, { once: true });
  const isCopied = document.execCommand("copy");
  document.removeEventListener("copy", put);
  if (!isCopied) throw new Error("The browser does not allow to copy");
}

/** An ID: its first characters and a button that copies all of it. */
const SHOWN_CHARACTERS = 8;

interface IdentifierProps {
  readonly value: string;
  readonly what: string;
  readonly isWhole?: boolean;
}

export const Identifier = ({ value, what, isWhole = false }: IdentifierProps) => (
  <span className="identifier">
    <code title={value}>{isWhole ? value : value.slice(0, SHOWN_CHARACTERS)}</code>
    <CopyButton text={value} what={what} />
  </span>
);

/** Preformatted text with a copy button. */
interface CodeBlockProps {
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

/** A dialog with a secret that is shown once; it stays open until the person confirms. */
interface SecretProps {
  readonly title: string;
  /** What to do with it, and that it is shown only once. */
  readonly about: string;
  /** Null while there is none to show. */
  readonly secret: string | null;
  readonly what: string;
  readonly onDone: () => void;
  /** Such as an example of its use. */
  readonly children?: ReactNode;
}

export const Secret = ({ title, about, secret, what, onDone, children }: SecretProps) => (
  <Dialog title={title} about={about} isOpen={secret !== null} onClose={onDone} isSticky>
    <div className="secret">
      <code>{secret}</code>
      <CopyButton text={secret ?? ""} what={what} label="Copy" />
    </div>
    {children}
    <footer>
      <Button variant="primary" onClick={onDone}>
        Done
      </Button>
    </footer>
  </Dialog>
);
