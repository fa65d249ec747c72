/** A button that copies text to the clipboard and confirms it. */
import { useEffect, useState } from "react";
import { Button } from "./button.tsx";

const CONFIRMED_MS = 1500;

export interface CopyButtonProps {
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
