/** A dialog with a secret that is shown once; it stays open until the person confirms. */
import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import { CopyButton } from "./copy-button.tsx";
import { Dialog } from "./dialog.tsx";

export interface SecretProps {
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
