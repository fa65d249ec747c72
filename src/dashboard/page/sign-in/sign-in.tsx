/** The sign-in page. */
import { Link, useLocation, useSearch } from "wouter";
import { useSignIn } from "../data/me.ts";
import { TextField } from "../ui/fields.tsx";
import { Form } from "../ui/form.tsx";
import { Challenge } from "./challenge.tsx";
import { EmailField } from "./credentials.tsx";
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

/** Only pages of this dashboard, so that a link to sign in cannot redirect to another site. */
function nextAfter(search: string): string {
  const next = new URLSearchParams(search).get("next") ?? "";
  return /^\/dashboard\/[\w\-/]*$/.test(next) ? next : "/dashboard";
}
