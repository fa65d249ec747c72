/** The sign-in page. */
import { Link, useLocation, useSearch } from "wouter";
import { useSignInRequest } from "../data/api.ts";
import { Form } from "../ui/form.tsx";
import { Challenge } from "./challenge.tsx";
import { CurrentPasswordField, EmailField, SignInLayout } from "./credentials.tsx";

export default function SignIn() {
  const search = useSearch();
  const [, go] = useLocation();
  const signIn = useSignInRequest("sign-in", () => go(`~${nextAfter(search)}`));
  return (
    <SignInLayout title="Sign in">
      <Form submitLabel="Sign in" action={signIn} toInput={(fields) => fields}>
        <EmailField autoFocus />
        <CurrentPasswordField />
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
