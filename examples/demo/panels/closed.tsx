/** What stands in place of a board that cannot be shown. */
import { Component, type ReactNode } from "react";
import { report } from "../room/visitor.ts";

export const Closed = ({ why }: { readonly why: string }) => (
  <main className="closed">
    <h1>Atrium</h1>
    <p role="alert">{why}</p>
    <p>
      <a href="/demo">Open a board of your own</a>
    </p>
  </main>
);

interface BoundaryProps {
  readonly children: ReactNode;
}

/** Takes the place of a board of which a part fails, and reports to the front page that there is none. */
export class Boundary extends Component<BoundaryProps, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError = () => ({ hasFailed: true });

  override componentDidCatch(): void {
    report("closed");
  }

  override render(): ReactNode {
    return this.state.hasFailed ? <Closed why="This board could not be shown." /> : this.props.children;
  }
}
