/** A secret that is shown once: it stays until the person says that it is kept. */
import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import { CopyButton } from "./copy-button.tsx";
import { Dialog } from "./dialog.tsx";

export interface SecretProps {
  readonly title: string;
  /** What to do with it, and that it will not be shown again. */
  readonly about: string;
  /** Null while there is none to show. */
  readonly secret: string | null;
  readonly what: string;
  readonly onKept: () => void;
  /** What can be done with it. */
  readonly children?: ReactNode;
}

export const Secret = ({ title, about, secret, what, onKept, children }: SecretProps) => (
  <Dialog title={title} about={about} isOpen={secret !== null} onClose={onKept} isSticky>
    <div className="secret">
      <code>{secret}</code>
      <CopyButton text={secret ?? ""} what={what} label="Copy" />
    </div>
    {children}
    <footer>
      <Button look="primary" onClick={onKept}>
        I have kept it
      </Button>
    </footer>
  </Dialog>
);
