/** Lets somebody in for the first time, with an organization of their own. */
import { Link, useLocation } from "wouter";
import { useSignUp } from "../data/me.ts";
import { Form } from "../ui/form.tsx";
import { TextField } from "../ui/text-field.tsx";
import { EmailField, NewPasswordField } from "./credentials.tsx";
import { Door } from "./sign-in-layout.tsx";

export function SignUp() {
  const [, go] = useLocation();
  const signUp = useSignUp();
  return (
    <Door title="Sign up">
      <Form
        verb="Sign up"
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
          hint="What your rooms belong to; you can invite others, and make more later."
        />
      </Form>
      <p className="soft">
        Been here before? <Link href="/sign-in">Sign in</Link>
      </p>
    </Door>
  );
}
