--  SPDX-License-Identifier: Apache-2.0

with Ada.Strings.Fixed;

package body Appserver.SQL is

   use type Ada.Exceptions.Exception_Id;

   ------------
   -- Errors --
   ------------

   --  An exception carries a message and nothing else, so the message is the record:
   --
   --     SQLSTATE 23505, code 2067: UNIQUE constraint failed: account.name

   State_Prefix : constant String := "SQLSTATE ";
   Code_Prefix  : constant String := ", code ";
   Code_Suffix  : constant String := ": ";

   procedure Raise_Error (State : SQL_State; Code : Integer; Message : UTF_8_String) is
   begin
      raise SQL_Error with
        State_Prefix & State & Code_Prefix
        & Ada.Strings.Fixed.Trim (Code'Image, Ada.Strings.Left) & Code_Suffix & Message;
   end Raise_Error;

   State_First : constant := State_Prefix'Length + 1;
   State_Last  : constant := State_First + SQL_State'Length - 1;
   Code_First  : constant := State_Last + Code_Prefix'Length + 1;

   --  Where the code's suffix begins; 0 if Error is not of Raise_Error's making

   function Code_End (Error : Ada.Exceptions.Exception_Occurrence) return Natural is
      Text : constant String := Ada.Exceptions.Exception_Message (Error);
   begin
      if Ada.Exceptions.Exception_Identity (Error) /= SQL_Error'Identity
        or else Ada.Strings.Fixed.Head (Text, State_Prefix'Length) /= State_Prefix
      then
         return 0;
      end if;
      return Ada.Strings.Fixed.Index (Text, Code_Suffix);
   end Code_End;

   function State_Of (Error : Ada.Exceptions.Exception_Occurrence) return SQL_State is
     (if Code_End (Error) = 0 then "HY000"
      else Ada.Exceptions.Exception_Message (Error) (State_First .. State_Last));

   function Code_Of (Error : Ada.Exceptions.Exception_Occurrence) return Integer is
      Stop : constant Natural := Code_End (Error);
   begin
      return
        (if Stop = 0 then 0
         else Integer'Value
           (Ada.Exceptions.Exception_Message (Error) (Code_First .. Stop - 1)));
   end Code_Of;

   function Message_Of (Error : Ada.Exceptions.Exception_Occurrence) return UTF_8_String is
      Text : constant String  := Ada.Exceptions.Exception_Message (Error);
      Stop : constant Natural := Code_End (Error);
   begin
      return (if Stop = 0 then Text else Text (Stop + Code_Suffix'Length .. Text'Last));
   end Message_Of;

   procedure Refuse_Null (Column : Column_Number) is
   begin
      Raise_Error ("22002", 0, "column" & Column'Image & " is null");
   end Refuse_Null;

   procedure Refuse_Range (Column : Column_Number; Into : String) is
   begin
      Raise_Error ("22003", 0, "column" & Column'Image & " does not fit in " & Into);
   end Refuse_Range;

   function Narrowed (Value : Integer_64; Column : Column_Number) return Integer_32 is
   begin
      if Value not in Integer_64 (Integer_32'First) .. Integer_64 (Integer_32'Last) then
         Refuse_Range (Column, "32 bits");
      end if;
      return Integer_32 (Value);
   end Narrowed;

   ----------------
   -- Statements --
   ----------------

   Closed_Statement  : constant String := "the statement is not open";
   Closed_Connection : constant String := "the connection is not open";

   function Refuse_Run return Boolean is
     (raise Misuse_Error with Closed_Statement);

   function Refuse_Bind
     (Self : Statement'Class; Parameter : Parameter_Number) return Boolean is
     (raise Misuse_Error with
        (if not Self.Is_Open then Closed_Statement
         elsif Self.Has_Row then "the statement's rows are being read: Reset it to bind"
         else "there is no parameter" & Parameter'Image & " of" & Self.Parameters'Image));

   function Refuse_Read
     (Self : Statement'Class; Column : Column_Number) return Boolean is
     (raise Misuse_Error with
        (if not Self.Is_Open then Closed_Statement
         elsif not Self.Has_Row then "there is no row to read: Step returned none"
         else "there is no column" & Column'Image & " of" & Self.Columns'Image));

   --------------
   -- Decimals --
   --------------

   --  A decimal's representation is the whole number itself (RM 3.5.9): GNAT's attributes
   --  Fixed_Value and Integer_Value convert without a multiplication

   procedure Bind_Decimal
     (Self : in out Statement'Class; Parameter : Parameter_Number; Value : Decimal) is
   begin
      Self.Bind_Scaled (Parameter, Integer_64'Integer_Value (Value), Decimal'Scale);
   end Bind_Decimal;

   function As_Decimal (Self : Statement'Class; Column : Column_Number) return Decimal is
      Value : constant Integer_64 := Self.As_Scaled (Column, Decimal'Scale);
   begin
      if Value not in Integer_64'Integer_Value (Decimal'First)
                   .. Integer_64'Integer_Value (Decimal'Last)
      then
         Refuse_Range (Column, Decimal'Digits'Image & " digits");
      end if;
      return Decimal'Fixed_Value (Value);
   end As_Decimal;

   procedure Attach (Self : in out Statement'Class; Owner : in out Connection'Class) is
   begin
      Self.Owner := Owner'Unchecked_Access;
      Self.Next  := Owner.First;
      if Self.Next /= null then
         Self.Next.Previous := Self'Unchecked_Access;
      end if;
      Owner.First := Self'Unchecked_Access;
   end Attach;

   procedure Detach (Self : in out Statement'Class) is
   begin
      if Self.Owner = null then
         return;
      end if;
      if Self.Previous = null then
         Self.Owner.First := Self.Next;
      else
         Self.Previous.Next := Self.Next;
      end if;
      if Self.Next /= null then
         Self.Next.Previous := Self.Previous;
      end if;
      Self.Owner      := null;
      Self.Previous   := null;
      Self.Next       := null;
      Self.Columns    := 0;
      Self.Parameters := 0;
   end Detach;

   overriding procedure Finalize (Self : in out Statement) is
   begin
      Statement'Class (Self).Close;
   end Finalize;

   -----------------
   -- Connections --
   -----------------

   function Can_Use (Self : Connection'Class) return Boolean is
     (Self.Is_Open or else raise Misuse_Error with Closed_Connection);

   procedure Close_Statements (Self : in out Connection'Class) is
   begin
      while Self.First /= null loop
         Self.First.Close;
      end loop;
   end Close_Statements;

   procedure Begin_Transaction (Self : in out Connection) is
   begin
      Connection'Class (Self).Execute ("BEGIN");
   end Begin_Transaction;

   procedure Commit (Self : in out Connection) is
   begin
      Connection'Class (Self).Execute ("COMMIT");
   end Commit;

   procedure Roll_Back (Self : in out Connection) is
   begin
      Connection'Class (Self).Execute ("ROLLBACK");
   end Roll_Back;

   overriding procedure Finalize (Self : in out Connection) is
   begin
      Connection'Class (Self).Close;
   end Finalize;

   ------------------
   -- Transactions --
   ------------------

   function Can_End (Self : Transaction'Class) return Boolean is
     (if not Self.Pending then raise Misuse_Error with "the transaction is over"
      else Can_Use (Self.On.all));

   overriding procedure Initialize (Self : in out Transaction) is
   begin
      if not Self.On.In_Autocommit then
         Raise_Error ("25001", 0, "a transaction is open on this connection");
      end if;
      Self.On.Begin_Transaction;
      Self.Pending := True;
   end Initialize;

   procedure Commit (Self : in out Transaction) is
   begin
      Self.On.Commit;
      Self.Pending := False;
   end Commit;

   --  Some errors make the database roll back by itself: then there is nothing left to do

   procedure Roll_Back (Self : in out Transaction) is
   begin
      Self.Pending := False;
      if not Self.On.In_Autocommit then
         Self.On.Roll_Back;
      end if;
   end Roll_Back;

   --  A failure here has nobody to go to: it would hide the exception on its way. The
   --  connection's own end rolls back too.

   overriding procedure Finalize (Self : in out Transaction) is
   begin
      if Self.Pending and then Self.On.Is_Open then
         Self.Roll_Back;
      end if;
   exception
      when SQL_Error => null;
   end Finalize;

end Appserver.SQL;
