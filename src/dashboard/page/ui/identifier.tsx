/** An ID: its first characters and a button that copies all of it. */
import { CopyButton } from "./copy-button.tsx";

const SHOWN_CHARACTERS = 8;

export interface IdentifierProps {
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
