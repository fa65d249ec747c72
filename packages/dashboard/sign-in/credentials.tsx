/** The frame of the pages outside an organization, and their fields for credentials. */
import type { ReactNode } from "react";
import { TextField } from "../ui/fields.tsx";
import { usePageTitle } from "../ui/page.tsx";

interface SignInLayoutProps {
  readonly title: string;
  readonly children: ReactNode;
}

export function SignInLayout({ title, children }: SignInLayoutProps) {
  usePageTitle(title);
  return (
    <main className="sign-in-layout" id="main">
      <a className="brand" href="/">
        Atrium
      </a>
      <h1>{title}</h1>
      {children}
    </main>
  );
}

const MIN_PASSWORD_CHARACTERS = 10;
const MAX_PASSWORD_CHARACTERS = 128;

interface EmailFieldProps {
  readonly autoFocus?: boolean;
  readonly hint?: string;
  readonly autoComplete?: string;
}

export const EmailField = (props: EmailFieldProps) => (
  <TextField label="Email" name="email" type="email" autoComplete="username" required {...props} />
);

export const CurrentPasswordField = ({ name = "password", label = "Password" }) => (
  <TextField label={label} name={name} type="password" autoComplete="current-password" required />
);

/** A code of a second factor. */
export const CodeField = ({
  label = "Code",
  hint = "From your authenticator app, or a recovery code.",
  autoFocus = false,
}) => (
  <TextField
    label={label}
    name="code"
    autoComplete="one-time-code"
    spellCheck={false}
    hint={hint}
    autoFocus={autoFocus}
  />
);

export const NewPasswordField = ({ name = "password", label = "Password" }) => (
  <TextField
    label={label}
    name={name}
    type="password"
    autoComplete="new-password"
    required
    minLength={MIN_PASSWORD_CHARACTERS}
    maxLength={MAX_PASSWORD_CHARACTERS}
    hint={`At least ${MIN_PASSWORD_CHARACTERS} characters.`}
  />
);
