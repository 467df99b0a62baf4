--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Interfaces.C;
with System.Storage_Elements;

package body Appserver.HTTP.REST.Trees is

   use Interfaces.C;
   use type System.Address;
   use System.Storage_Elements;

   Root : constant Link := 1;

   --  Of C's library, which looks at many bytes at a time

   function Memory_Search
     (From : System.Address; Byte : int; Length : size_t)
      return System.Address
     with Import, Convention => C, External_Name => "memchr";

   function Memory_Compare
     (Left, Right : System.Address; Length : size_t) return int
     with Import, Convention => C, External_Name => "memcmp";

   --  The first segment of what is left of a path ends before the next "/", or with the path

   function Segment_Last (Rest : String) return Natural is
      Slash : constant System.Address :=
        Memory_Search (Rest'Address, Character'Pos ('/'), Rest'Length);
   begin
      return
        (if Slash = System.Null_Address then Rest'Last
         else Rest'First + Natural (Slash - Rest'Address) - 1);
   end Segment_Last;

   -------------
   -- Growing --
   -------------

   Ellipsis : constant String := "...}";

   --  What a segment of a pattern stands for, and its text or name

   procedure Read_Segment
     (Segment : String; Kind : out Segment_Kind; Text : out Span; Valid : out Boolean)
   is
      Is_Name : constant Boolean :=
        Segment'Length > 2
        and then Segment (Segment'First) = '{' and then Segment (Segment'Last) = '}';
      Is_All  : constant Boolean :=
        Is_Name
        and then Segment'Length > Ellipsis'Length + 1
        and then Segment (Segment'Last - Ellipsis'Length + 1 .. Segment'Last) = Ellipsis;
   begin
      Kind :=
        (if Is_All then All_Segments elsif Is_Name then One_Segment else Literal);
      Text :=
        (case Kind is
            when Literal      => (Segment'First, Segment'Last),
            when One_Segment  => (Segment'First + 1, Segment'Last - 1),
            when All_Segments => (Segment'First + 1, Segment'Last - Ellipsis'Length));
      Valid :=
        (if Kind = Literal
         then (for all C of Segment => C not in '{' | '}' | '%')
         else Length (Text) <= Longest_Capture
           and then (for all K in Text.First .. Text.Last =>
                       Segment (K) in 'A' .. 'Z' | 'a' .. 'z' | '0' .. '9' | '_'));
   end Read_Segment;

   --  Whether a child of the segment's kind is the segment's own; names may not differ

   function Is_For
     (Self : Service; Child : Link; Kind : Segment_Kind; Text : String) return Boolean
   is
      Node : REST.Node renames Self.Nodes (Child);
      Name : Capture_Name renames Self.Names (Child);
   begin
      if Kind = Literal then
         return Self.Texts (Node.Text.First .. Node.Text.Last) = Text;
      elsif Name.Text (1 .. Name.Length) /= Text then
         raise Route_Error with "{" & Text & "} has another name in another route";
      end if;
      return True;
   end Is_For;

   --  The child of Parent for the segment; a new text is linked behind the others

   procedure Descend
     (Self : in out Service; Parent : Link; Kind : Segment_Kind; Text : String; To : out Link)
   is
      Before : Link := 0;
   begin
      To := Self.Nodes (Parent).Children (Kind);
      while To > 0 loop
         if Is_For (Self, To, Kind, Text) then
            return;
         end if;
         Before := To;
         To     := Self.Nodes (To).Next;
      end loop;
      Self.Node_Count := Self.Node_Count + 1;
      To := Self.Node_Count;
      case Kind is
         when Literal =>
            Self.Nodes (To).Text  := (Self.Text_Length + 1, Self.Text_Length + Text'Length);
            Self.Nodes (To).Start := (if Text = "" then '/' else Text (Text'First));
            Self.Texts (Self.Text_Length + 1 .. Self.Text_Length + Text'Length) := Text;
            Self.Text_Length := Self.Text_Length + Text'Length;
         when others =>
            Self.Names (To).Text (1 .. Text'Length) := Text;
            Self.Names (To).Length := Text'Length;
            Self.Nodes (Parent).Has_Names := True;
      end case;
      if Before = 0 then
         Self.Nodes (Parent).Children (Kind) := To;
      else
         Self.Nodes (Before).Next := To;
      end if;
   end Descend;

   procedure Add (Self : in out Service; Route : Path_Route) is
      Pattern : String renames Route.Pattern (1 .. Route.Length);
      First   : Positive := 2;
      Last    : Natural;
      Kind    : Segment_Kind;
      Text    : Span;
      Valid   : Boolean;
      At_Node : Link := Root;
      Below   : Link;
      Names   : Natural := 0;
   begin
      if Route.Length = 0 or else Pattern (1) /= '/' then
         raise Route_Error with "a pattern begins with ""/"": " & Pattern;
      end if;
      loop
         Last := Segment_Last (Pattern (First .. Pattern'Last));
         Read_Segment (Pattern (First .. Last), Kind, Text, Valid);
         Names := Names + Boolean'Pos (Kind /= Literal);
         if not Valid
           or else (Kind = All_Segments and then Last < Pattern'Last)
           or else Names > Most_Captures
         then
            raise Route_Error with "malformed pattern: " & Pattern;
         end if;
         Descend (Self, At_Node, Kind, Pattern (Text.First .. Text.Last), Below);
         At_Node := Below;
         exit when Last = Pattern'Last;
         First := Last + 2;
      end loop;
      if Self.Routes (At_Node) (Route.Method).Kind /= None then
         raise Route_Error with "two routes for " & Route.Method'Image & " " & Pattern;
      end if;
      Self.Routes (At_Node) (Route.Method) := Route.Handle;
      Self.Nodes (At_Node).Is_End := True;
   end Add;

   -------------
   -- Finding --
   -------------

   --  The text, of those linked from List on, that a segment with percent-encoded bytes stands for

   function Decoded_Child (Self : Service; List : Link; Segment : String) return Link
     with No_Inline
   is
      Text  : constant String := Decoded (Segment);
      Child : Link := List;
   begin
      while Child > 0 loop
         declare
            Node : REST.Node renames Self.Nodes (Child);
         begin
            exit when Self.Texts (Node.Text.First .. Node.Text.Last) = Text;
            Child := Node.Next;
         end;
      end loop;
      return Child;
   end Decoded_Child;

   --  The text, of those linked from List on, that the segment from First on is, or 0, and where
   --  the segment ends. Its end is looked for only if no text has it, as each text has a length.

   procedure Find_Text
     (Self  : Service;
      List  : Link;
      Path  : String;
      First : Positive;
      Child : out Link;
      Last  : out Natural)
   is
      Start : constant Character := (if First <= Path'Last then Path (First) else '/');
   begin
      Child := List;
      while Child > 0 loop
         declare
            Node : REST.Node renames Self.Nodes (Child);
         begin
            if Node.Start = Start then
               Last := First + (Node.Text.Last - Node.Text.First);
               if (if Last < Path'Last then Path (Last + 1) = '/' else Last = Path'Last)
                 and then (Last < First
                           or else Memory_Compare
                             (Path (First)'Address, Self.Texts (Node.Text.First)'Address,
                              size_t (Length (Node.Text))) = 0)
               then
                  return;
               end if;
            end if;
            Child := Node.Next;
         end;
      end loop;
      Last := Segment_Last (Path (First .. Path'Last));
      if List > 0 and then (for some C of Path (First .. Last) => C = '%') then
         Child := Decoded_Child (Self, List, Path (First .. Last));
      end if;
   end Find_Text;

   procedure Note
     (Found : in out Match; Place : Positive; Name : Link; First : Positive; Last : Natural) is
   begin
      Found.Count := Place;
      Found.Captured (Place) := (Name, First, Last);
   end Note;

   --  Follows the path as far as it fits. What else fits on the way is noted, and tried where that
   --  led to no route: as many as patterns have segments, and two of each, at the most.

   Most_Left : constant := 2 * Longest_Pattern;

   type Alternative is record
      Child : Link;
      First : Positive;  --  Of what the child captures
      Last  : Natural;
      Place : Positive;
   end record;

   procedure Follow (Self : Service; Path : String; Before : Natural; Found : in out Match) is
      Left    : array (1 .. Most_Left) of Alternative;
      Count   : Natural := 0;
      At_Node : Link := Root;
      Last    : Natural := Before;
      First   : Positive;
      Child   : Link;
   begin
      loop
         if Last < Path'Last then
            declare
               Node     : REST.Node renames Self.Nodes (At_Node);
               Children : Links renames Node.Children;
               Place    : constant Positive := Found.Count + 1;
            begin
               First := Last + 2;
               Find_Text (Self, Children (Literal), Path, First, Child, Last);
               At_Node := Child;
               if Node.Has_Names then
                  --  The last one that fits is tried last: it is noted first
                  if Children (All_Segments) > 0 and then First <= Path'Last then
                     Count := Count + 1;
                     Left (Count) := (Children (All_Segments), First, Path'Last, Place);
                  end if;
                  if Children (One_Segment) > 0 and then First <= Last then
                     Count := Count + 1;
                     Left (Count) := (Children (One_Segment), First, Last, Place);
                  end if;
               end if;
            end;
         elsif Self.Nodes (At_Node).Is_End then
            Found.Node := At_Node;
            return;
         else
            At_Node := 0;
         end if;
         if At_Node = 0 then
            exit when Count = 0;
            declare
               Next : Alternative renames Left (Count);
            begin
               Note (Found, Next.Place, Next.Child, Next.First, Next.Last);
               At_Node := Next.Child;
               Last    := Next.Last;
            end;
            Count := Count - 1;
         end if;
      end loop;
   end Follow;

   procedure Find (Self : Service; Request : HTTP.Request; Found : in out Match) is
      Path : String renames Request.Bytes (Request.Target.First .. Request.Target.Last);
   begin
      if Path'Length > 0 and then Path (Path'First) = '/' then
         Follow (Self, Path, Path'First - 1, Found);
      end if;
   end Find;

end Appserver.HTTP.REST.Trees;
