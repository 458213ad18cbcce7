/** Notes above the conversation: problems, and what is being done about them. */

import type { Trouble } from "../call";
import { type Explanation, type Problem, explain, explainTrouble } from "../problems";
import type { Component } from "../timeline";
import { WarningIcon } from "./icons";

export const ProblemNote = ({ problem }: { problem: Problem }) => (
  <Note explanation={explain(problem)} detail={problem.detail} code={problem.code} />
);

export const TroubleNote = ({ component, trouble }: { component: Component; trouble: Trouble }) => (
  <Note
    explanation={explainTrouble(component, trouble.recoverable)}
    detail={trouble.message}
    code={`${component}_error`}
  />
);

interface Props {
  explanation: Explanation;
  detail: string | undefined;
  code: string;
}

function Note({ explanation: { title, remedy, command }, detail, code }: Props) {
  return (
    <div class="note" role="alert" data-code={code}>
      <WarningIcon />
      <div>
        <strong>{title}</strong>
        <p>{remedy}</p>
        {command && (
          <p>
            <code>{command}</code>
          </p>
        )}
        {detail && (
          <details>
            <summary>Details</summary>
            <code>{detail}</code>
          </details>
        )}
      </div>
    </div>
  );
}

export const Reconnecting = () => (
  <div class="note calm" role="alert" data-code="reconnecting">
    <span class="spinner" aria-hidden="true" />
    <div>
      <strong>Connection lost – reconnecting…</strong>
      <p>Please stay on the line. Nothing that was noted is lost.</p>
    </div>
  </div>
);
