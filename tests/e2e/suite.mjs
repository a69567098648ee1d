// SPDX-License-Identifier: MIT
//
// Counts what a suite shows; suite.py is its twin.

import assert from 'node:assert/strict';

export class Suite {
  passed = 0;
  failed = 0;

  // A case is a sentence that holds or does not.
  async case(sentence, check) {
    try {
      await check();
      this.passed += 1;
    } catch (failure) {
      this.failed += 1;
      console.log(`FAILED: ${sentence}\n${failure.stack}`);
    }
  }

  // Prints the line that tools/run-tests looks for and sets the exit code.
  finish() {
    console.log(`${this.passed} passed, ${this.failed} failed`);
    process.exitCode = this.failed > 0 || this.passed === 0 ? 1 : 0;
  }
}

export const equal = assert.deepStrictEqual;
export const holds = assert.ok;

// The path of the server's binary: the suite's one argument, or BELFRY.
export function binaryOf(argv) {
  const binary = argv[2] ?? process.env.BELFRY;
  if (!binary) {
    console.error(`usage: ${argv[1]} PATH_OF_BELFRY`);
    process.exit(2);
  }
  return binary;
}
