--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A table of the idempotency keys and the results of committed calls. The table is in the same
--  database as the data that the calls change.
--
--     CREATE TABLE retry_key (id varchar(255) PRIMARY KEY, result text, request varchar(64),
--                             created timestamp DEFAULT CURRENT_TIMESTAMP)
--
--  The database must treat two keys as equal only if all their characters are equal. In MariaDB,
--  this requires that id is varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin, and a
--  strict sql_mode (the default), which does not truncate keys. The column request contains the
--  fingerprint of the request, for calls that pass their request. Delete_Older uses the column
--  created; an index on this column makes the deletion fast. In PostgreSQL, the type of created
--  must be timestamptz. A value of type timestamp would be in the time zone of the session that
--  wrote it, and a session in another time zone, such as a Java program's session, would delete
--  keys hours early.

pragma Ada_2022;

package Appserver.Retry.Key_Tables is

   pragma Assertion_Policy (Pre => Check);

   --  Subprograms that are steps of a transaction, which must be open on DB. The package
   --  Transactions calls these subprograms.

   procedure Take
     (Table  : String;
      DB     : in out SQL.Connection'Class;
      Id     : SQL.UTF_8_String;
      Is_New : out Boolean;
      Print  : SQL.UTF_8_String := "")
     with Pre => SQL.Can_Use (DB);
   --  Inserts a key. If another open transaction has inserted the same key, database servers wait
   --  for the end of that transaction. SQLite waits for the end of any write transaction, up to its
   --  busy timeout.
   --  @param Table the name of the table
   --  @param DB the connection
   --  @param Id the key
   --  @param Is_New False if the table already contains the key
   --  @param Print the fingerprint of the request; may be empty

   function Result_Of
     (Table : String;
      DB    : in out SQL.Connection'Class;
      Id    : SQL.UTF_8_String;
      Print : SQL.UTF_8_String := "") return SQL.UTF_8_String
     with Pre => SQL.Can_Use (DB);
   --  Returns the result of a key in the table.
   --  @param Table the name of the table
   --  @param DB the connection
   --  @param Id the key
   --  @param Print the fingerprint of the request; may be empty
   --  @return the result; empty if the key has no result
   --  @exception Key_Taken_Error this transaction cannot see the key, because the key is newer than
   --  the transaction's snapshot, or because its row was deleted
   --  @exception Key_Reused_Error the table contains the key with another fingerprint

   function Fingerprint (Request : SQL.UTF_8_String) return SQL.UTF_8_String;
   --  Computes the fingerprint of a request, as the Java library does.
   --  @param Request the request
   --  @return the SHA-256 hash as 64 hexadecimal digits; empty for an empty request

   procedure Keep
     (Table  : String;
      DB     : in out SQL.Connection'Class;
      Id     : SQL.UTF_8_String;
      Result : SQL.UTF_8_String)
     with Pre => SQL.Can_Use (DB);
   --  Stores the result of a key.
   --  @param Table the name of the table
   --  @param DB the connection
   --  @param Id the key
   --  @param Result the result

   subtype Age is Duration range 1.0 .. 1.0E9;

   procedure Delete_Older
     (Table    : String;
      DB       : in out SQL.Connection'Class;
      Than     : Age;
      Deleted  : out SQL.Integer_64;
      Max_Rows : Positive := 1_000)
     with Pre => SQL.Can_Use (DB);
   --  Deletes old keys. Call this periodically, and repeat the call until Deleted is less than
   --  Max_Rows. If a client repeats a call after its key was deleted, the call takes effect again.
   --  If no transaction is open, the deletion is its own transaction.
   --  @param Table the name of the table
   --  @param DB the connection
   --  @param Than the minimum age of the keys to delete, in seconds of the database's clock;
   --  rounded to whole seconds
   --  @param Deleted the number of deleted keys
   --  @param Max_Rows the maximum number of keys to delete

end Appserver.Retry.Key_Tables;
