/** The sign-in page. */
import { Link, useLocation, useSearch } from "wouter";
import { useSignIn } from "../data/me.ts";
import { Form } from "../ui/form.tsx";
import { TextField } from "../ui/text-field.tsx";
import { Challenge } from "./challenge.tsx";
import { EmailField } from "./credentials.tsx";
import { nextAfter } from "./next.ts";
import { SignInLayout } from "./sign-in-layout.tsx";

export default function SignIn() {
  const search = useSearch();
  const [, go] = useLocation();
  const signIn = useSignIn();
  return (
    <SignInLayout title="Sign in">
      <Form
        submitLabel="Sign in"
        error={signIn.error}
        isBusy={signIn.isPending}
        onSubmit={({ email = "", password = "", challenge }) =>
          signIn.mutate({ email, password, challenge }, { onSuccess: () => go(`~${nextAfter(search)}`) })
        }
      >
        <EmailField autoFocus />
        <TextField
          label="Password"
          name="password"
          type="password"
          autoComplete="current-password"
          required
        />
        <Challenge error={signIn.error} />
      </Form>
      <p className="soft">
        <Link href="/forgot-password">Forgot your password?</Link>
      </p>
      <p className="soft">
        New here? <Link href={`/sign-up${search && `?${search}`}`}>Sign up</Link>
      </p>
    </SignInLayout>
  );
}
