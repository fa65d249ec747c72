/** Puts a text on the clipboard, and says so. */
import { useEffect, useState } from "react";
import { Button } from "./button.tsx";

const SAID_MS = 1500;

export interface CopyButtonProps {
  readonly text: string;
  /** What is copied, for those who listen. */
  readonly what: string;
  readonly label?: string;
}

export function CopyButton({ text, what, label }: CopyButtonProps) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), SAID_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  return (
    <>
      <Button
        look={label === undefined ? "quiet" : "plain"}
        icon={isCopied ? "check" : "copy"}
        aria-label={`Copy ${what}`}
        onClick={() => navigator.clipboard.writeText(text).then(() => setCopied(true))}
      >
        {label}
      </Button>
      <span role="status" className="hidden">
        {isCopied && "Copied"}
      </span>
    </>
  );
}
