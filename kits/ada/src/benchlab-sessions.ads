--  SPDX-License-Identifier: Apache-2.0
--
--  The dialog between benchlab and a subject, without input and output: a session takes commands
--  and returns replies.

with Benchlab.Cases;

private with Ada.Finalization;

package Benchlab.Sessions is

   function Hello (Subject, Library : String) return String;
   --  Returns the first line that a subject writes. Library is the driver or the library under
   --  test, with its version. Must be called by the thread that performs the operations.

   type Session (New_Case : Cases.Case_Maker) is tagged limited private;

   function Answer (Self : in out Session; Line : String) return String
     with Pre => not Self.Is_Over;
   --  Runs a command. Returns the reply without its LF, or an empty text after "quit", which has no
   --  reply.

   procedure Wait (Self : in out Session; Commands : Natural);
   --  Waits until the descriptor Commands has input. An open server without its own task processes
   --  requests during this call.

   function Is_Over (Self : Session) return Boolean;
   --  Returns True after the command "quit"

   type Error_Code is (Usage, Unsupported, Failed);

   function Error_Reply (Code : Error_Code; Message : String) return String;

private

   type Session (New_Case : Cases.Case_Maker) is
     limited new Ada.Finalization.Limited_Controlled with record
      Current : Cases.Case_Reference;
      Over    : Boolean := False;
   end record;

   overriding procedure Finalize (Self : in out Session);

   function Is_Over (Self : Session) return Boolean is (Self.Over);

end Benchlab.Sessions;
