import { seconds } from "../delays";
import { clock } from "../player";
import { WarningIcon } from "./icons";

/** One file of the folder; without `began` it is no recording, and `problem` says why. */
export interface Listed {
  name: string;
  began?: string;
  length_ms?: number;
  turns?: number;
  slowest_gap_ms?: number | null;
  problems?: number;
  problem?: string;
}

interface Props {
  list: Listed[];
  left_out: number;
  open(name: string): void;
}

const WHEN = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** The recordings to choose from, the newest first. */
export function Recordings({ list, left_out, open }: Props) {
  return (
    <div class="app library">
      <h1>Recorded calls</h1>
      <table class="card">
        <thead>
          <tr>
            <th scope="col">Call</th>
            <th scope="col">Length</th>
            <th scope="col">Turns</th>
            <th scope="col">Slowest gap</th>
          </tr>
        </thead>
        <tbody>
          {list.map((one) =>
            one.began === undefined ? (
              <tr key={one.name}>
                <td colSpan={4} class="broken">
                  {one.problem}
                </td>
              </tr>
            ) : (
              <tr key={one.name}>
                <th scope="row">
                  <button class="link" title={one.name} onClick={() => open(one.name)}>
                    {WHEN.format(new Date(one.began))}
                  </button>
                  {Boolean(one.problems) && (
                    <span class="damaged" title="Its reader found problems; open it to see them">
                      <WarningIcon />
                      <span class="for-screen-readers">has problems</span>
                    </span>
                  )}
                </th>
                <td data-label="Length">{clock(one.length_ms ?? 0)}</td>
                <td data-label="Turns">{one.turns}</td>
                <td data-label="Slowest gap">{seconds(one.slowest_gap_ms ?? null)}</td>
              </tr>
            ),
          )}
        </tbody>
      </table>
      {left_out > 0 && (
        <p class="small">
          {left_out} older recordings are not listed; a link that names one opens it.
        </p>
      )}
    </div>
  );
}
