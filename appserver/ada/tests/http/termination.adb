--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

package body Termination is

   protected body Request is

      entry Wait when Is_There is
      begin
         null;
      end Wait;

      procedure Note is
      begin
         Is_There := True;
      end Note;

   end Request;

end Termination;
