/** The fields for an email address and a new password. */
import { TextField } from "../ui/text-field.tsx";

const MIN_PASSWORD_CHARACTERS = 10;
const MAX_PASSWORD_CHARACTERS = 128;

export const EmailField = ({ autoFocus = false }: { readonly autoFocus?: boolean }) => (
  <TextField label="Email" name="email" type="email" autoComplete="username" required autoFocus={autoFocus} />
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
