; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4") alwaysinline
{
entry:
  br label %"start"
start:
  %".6" = getelementptr i64, ptr %".1", i64 -1
  %".7" = getelementptr i64, ptr %".2", i64 0
  %".8" = load i64, ptr %".7"
  %".9" = getelementptr ptr, ptr %".1", i64 0
  %".10" = load ptr, ptr %".9"
  %".11" = getelementptr ptr, ptr %".1", i64 1
  %".12" = load ptr, ptr %".11"
  %".13" = trunc i64 %".4" to i32
  %".14" = trunc i64 %".8" to i32
  %".15" = getelementptr i8, ptr %".3", i64 0
  %".16" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float              0x0, i32 0
  %".17" = shufflevector <8 x float> %".16", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> splat (i32 0)
  %".18" = getelementptr inbounds float, ptr %".15", i64 0
  store <8 x float> %".17", ptr %".18", align 4
  %".20" = sext i32 0 to i64
  %".21" = sext i32 3 to i64
  br label %"loop"
loop:
  %"i" = phi  i64 [%".20", %"start"], [%".38", %"body"]
  %".23" = icmp slt i64 %"i", %".21"
  br i1 %".23", label %"body", label %"done"
body:
  %".25" = trunc i64 %"i" to i32
  %".26" = sext i32 %".25" to i64
  %".27" = mul i64 %".26", 8
  %".28" = sext i32 0 to i64
  %".29" = add i64 %".27", %".28"
  %".30" = getelementptr float, ptr %".10", i64 %".29"
  %".31" = getelementptr inbounds float, ptr %".15", i64 0
  %".32" = load <8 x float>, ptr %".31", align 4
  %".33" = getelementptr inbounds float, ptr %".30", i64 0
  %".34" = load <8 x float>, ptr %".33", align 4
  %".35" = fadd <8 x float> %".32", %".34"
  %".36" = getelementptr inbounds float, ptr %".15", i64 0
  store <8 x float> %".35", ptr %".36", align 4
  %".38" = add i64 %"i", 1
  br label %"loop"
done:
  %".40" = getelementptr inbounds float, ptr %".15", i64 0
  %".41" = load <8 x float>, ptr %".40", align 4
  %".42" = getelementptr inbounds float, ptr %".12", i64 0
  store <8 x float> %".41", ptr %".42", align 4
  ret void
}
