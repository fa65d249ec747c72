/** Buttons, icons, monograms, boxes that scroll, and texts to copy or to save. */
import { type ComponentProps, type ReactNode, useEffect, useState } from "react";

/** Icons beside labels: strokes in the color of the text, hidden from screen readers. */
const PATHS = {
  overview: "M2 9h4V2H2zM2 14h4v-2H2zM9 14h5V7H9zM9 4h5V2H9z",
  rooms: "M2 13V6l6-4 6 4v7zM6 13V9h4v4",
  people:
    "M6 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5M1.5 13.5a4.5 4.5 0 0 1 9 0M10.5 2.8a2.5 2.5 0 0 1 0 4.5M12 9.6a4.5 4.5 0 0 1 2.5 3.9",
  webhooks:
    "M6 7a2.5 2.5 0 1 1 3-2.4M5.8 6.8 4 10.5M3.5 9A2.5 2.5 0 1 0 6 12h5M9 5l2.2 4.2M10 9.7a2.5 2.5 0 1 1 .5 4",
  workflows: "M5.5 4 2 8l3.5 4M10.5 4 14 8l-3.5 4M9 2.5l-2 11",
  logs: "M3 1.5h10v13H3zM5.5 5h5M5.5 8h5M5.5 11h3",
  settings: "M2 4.5h7M12 4.5h2M2 11.5h2M7 11.5h7M10.5 3v3M5.5 10v3",
  copy: "M5.5 5.5h8v8h-8zM3 10.5H2.5v-8h8V3",
  check: "m3 8.5 3.5 3.5L13 4.5",
  close: "m4 4 8 8M12 4l-8 8",
  plus: "M8 3v10M3 8h10",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10m3.6-1.4L14 14",
  left: "M10 3 5 8l5 5",
  right: "m6 3 5 5-5 5",
  up: "M4.5 6 8 2.5 11.5 6M4.5 10 8 13.5 11.5 10",
  upload: "M8 11V3M4.5 6 8 2.5 11.5 6M2.5 11v2.5h11V11",
  file: "M3.5 1.5h6l3 3v10h-9zM9.5 1.5v3h3",
  live: "M8 8h.01M5.2 10.8a4 4 0 0 1 0-5.6M10.8 5.2a4 4 0 0 1 0 5.6M3.1 12.9a7 7 0 0 1 0-9.8M12.9 3.1a7 7 0 0 1 0 9.8",
  run: "M4.5 2.5v11l9-5.5z",
  pause: "M5.5 3v10M10.5 3v10",
  help: "M6 6a2 2 0 1 1 2.6 1.9c-.4.2-.6.5-.6 1v.6M8 12h.01M8 14.5a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13",
  warning: "M8 2 1.5 13.5h13zM8 6.5v3M8 11.6h.01",
} as const;

export type IconName = keyof typeof PATHS;

export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg className="icon" viewBox="0 0 16 16" aria-hidden="true">
    <path d={PATHS[name]} />
  </svg>
);

/** The first letter of a name, or of a person's first two, as a picture: the style sheet draws it, so that the text that one sees is the name alone. */
interface MonogramProps {
  readonly name: string;
  readonly isRound?: boolean;
  /** The size of a group, which is drawn instead of the letter. */
  readonly count?: number;
}

/** The first letters of this many words. */
const lettersOf = (name: string, words: number): string =>
  name
    .split(/\s+/, words)
    .map((word) => [...word][0]?.toUpperCase() ?? "")
    .join("");

export const Monogram = ({ name, isRound = false, count = 1 }: MonogramProps) => (
  <span
    className={isRound ? "monogram round" : "monogram"}
    data-letter={count > 1 ? count : lettersOf(name, isRound ? 2 : 1)}
    aria-hidden="true"
  />
);

/** A button. While busy it ignores presses and is announced as disabled. */
export interface ButtonProps extends ComponentProps<"button"> {
  readonly variant?: "plain" | "primary" | "quiet" | "danger";
  readonly icon?: IconName;
  readonly isBusy?: boolean;
}

export const Button = ({
  variant = "plain",
  icon,
  isBusy = false,
  className = "",
  children,
  onClick,
  ...rest
}: ButtonProps) => (
  <button
    type="button"
    {...rest}
    className={`button ${variant} ${className}`}
    aria-disabled={isBusy || undefined}
    onClick={(event) => (isBusy ? event.preventDefault() : onClick?.(event))}
  >
    {icon && <Icon name={icon} />}
    {children}
  </button>
);

const SAVED_URL_MS = 60_000;

/** Saves bytes or text, which the page has, as a file on the person's device. */
export function saveFile(name: string, type: string, content: BlobPart): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // A browser that is busy reads the URL long after the click.
  setTimeout(() => URL.revokeObjectURL(url), SAVED_URL_MS);
}

/** A button that copies text to the clipboard and confirms it. */
const CONFIRMED_MS = 1500;

interface CopyButtonProps {
  readonly text: string;
  /** The name of the copied text, for screen readers. */
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

interface ScrollBoxProps {
  /** The accessible name. */
  readonly label: string;
  readonly className?: string;
  readonly children: ReactNode;
}

/** Content that scrolls when it is too large. */
export const ScrollBox = ({ label, className = "", children }: ScrollBoxProps) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
  <section className={`scroll ${className}`} tabIndex={0} aria-label={label}>
    {children}
  </section>
);

/** Preformatted text with a copy button. */
interface CodeBlockProps {
  readonly text: string;
  readonly what: string;
}

export const CodeBlock = ({ text, what }: CodeBlockProps) => (
  <div className="code-block">
    <ScrollBox label={what}>
      <pre>{text}</pre>
    </ScrollBox>
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
