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
  %".13" = getelementptr ptr, ptr %".1", i64 2
  %".14" = load ptr, ptr %".13"
  %".15" = trunc i64 %".4" to i32
  %".16" = trunc i64 %".8" to i32
  %".17" = trunc i64 %".4" to i32
  %".18" = sext i32 %".17" to i64
  %".19" = mul i64 %".18", 20
  %".20" = getelementptr float, ptr %".10", i64 %".19"
  %".21" = trunc i64 %".4" to i32
  %".22" = sext i32 %".21" to i64
  %".23" = mul i64 %".22", 20
  %".24" = getelementptr float, ptr %".12", i64 %".23"
  %".25" = trunc i64 %".4" to i32
  %".26" = sext i32 %".25" to i64
  %".27" = mul i64 %".26", 20
  %".28" = getelementptr float, ptr %".14", i64 %".27"
  %".29" = getelementptr inbounds float, ptr %".20", i64 0
  %".30" = load <16 x float>, ptr %".29", align 4
  %".31" = getelementptr inbounds float, ptr %".24", i64 0
  %".32" = load <16 x float>, ptr %".31", align 4
  %".33" = fadd <16 x float> %".30", %".32"
  %".34" = getelementptr inbounds float, ptr %".28", i64 0
  store <16 x float> %".33", ptr %".34", align 4
  %".36" = getelementptr inbounds float, ptr %".20", i64 16
  %".37" = load <4 x float>, ptr %".36", align 4
  %".38" = getelementptr inbounds float, ptr %".24", i64 16
  %".39" = load <4 x float>, ptr %".38", align 4
  %".40" = fadd <4 x float> %".37", %".39"
  %".41" = getelementptr inbounds float, ptr %".28", i64 16
  store <4 x float> %".40", ptr %".41", align 4
  ret void
}
