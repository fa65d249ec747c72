/** The sign-up page, which also creates an organization. */
import { Link, useLocation } from "wouter";
import { useSignUp } from "../data/me.ts";
import { Form } from "../ui/form.tsx";
import { TextField } from "../ui/text-field.tsx";
import { EmailField, NewPasswordField } from "./credentials.tsx";
import { SignInLayout } from "./sign-in-layout.tsx";

export function SignUp() {
  const [, go] = useLocation();
  const signUp = useSignUp();
  return (
    <SignInLayout title="Sign up">
      <Form
        submitLabel="Sign up"
        error={signUp.error}
        isBusy={signUp.isPending}
        onSubmit={({ name = "", email = "", password = "", organization = "" }) =>
          signUp.mutate({ name, email, password, organization }, { onSuccess: () => go("/") })
        }
      >
        <TextField label="Your name" name="name" autoComplete="name" required maxLength={255} autoFocus />
        <EmailField />
        <NewPasswordField />
        <TextField
          label="Organization"
          name="organization"
          autoComplete="organization"
          required
          maxLength={255}
          hint="Owns your rooms. You can invite members and create more organizations later."
        />
      </Form>
      <p className="soft">
        Already have an account? <Link href="/sign-in">Sign in</Link>
      </p>
    </SignInLayout>
  );
}
