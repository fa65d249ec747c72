/** The fields for an email address and a new password. */
import { TextField } from "../ui/fields.tsx";

const MIN_PASSWORD_CHARACTERS = 10;
const MAX_PASSWORD_CHARACTERS = 128;

export interface EmailFieldProps {
  readonly autoFocus?: boolean;
  readonly hint?: string;
}

export const EmailField = (props: EmailFieldProps) => (
  <TextField label="Email" name="email" type="email" autoComplete="username" required {...props} />
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
